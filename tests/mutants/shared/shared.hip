// A push all-gather whose blocks keep where their rows go in block-shared memory.
#include "rankcheck.h"

#define ENTRIES 16

#if defined(ALL_LANES_STORE)
#define STORES true
#else
#define STORES (threadIdx.x < ENTRIES)
#endif

#if defined(LENGTHS_BEHIND_BYTES)
#define LENGTHS (places + ENTRIES * sizeof(rc_i64))
#else
#define LENGTHS (places + ENTRIES)
#endif

// The manifest gives dynamic memory for ENTRIES places and as many lengths.
extern __shared__ rc_i64 places[];

RC_KERNEL shared(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
                 const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  __shared__ int rows[ENTRIES];
  rc_i64* lengths = LENGTHS;
  for (int first = blockIdx.x * ENTRIES; first < m; first += gridDim.x * ENTRIES) {
    if (threadIdx.x < ENTRIES) {
      places[threadIdx.x] = ((rc_i64)group_rank * m + first + threadIdx.x) * output_stride;
      lengths[threadIdx.x] = first + int(threadIdx.x) < m ? n : 0;
    }
    if (STORES) rows[threadIdx.x] = first + threadIdx.x;
    __syncthreads();
    for (int entry = 0; entry < ENTRIES; entry++)
      for (int column = threadIdx.x; column < lengths[entry]; column += blockDim.x)
        for (int peer = 0; peer < group_size; peer++)
          rc_peer(output, bases, rank, ranks[peer])[places[entry] + column] = input[rows[entry] * input_stride + column];
    __syncthreads();
  }
}
