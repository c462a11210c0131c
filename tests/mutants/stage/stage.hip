// Push all-gathers with memory of their own: a staging buffer, a ticket counter, a remembered group.
#include "rankcheck.h"

// The manifest sizes `staging` for one row of a tile a block.
#if defined(STAGING_OF_DEFAULT_TILE)
#define CAPACITY 64
#elif defined(CAPACITY_IN_BYTES)
#define CAPACITY (tile_n * (int)sizeof(ELEM))
#elif defined(CAPACITY_NOT_CHECKED)
#define CAPACITY n
#else
#define CAPACITY tile_n
#endif

RC_KERNEL staged(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
                 const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, int tile_m,
                 int tile_n, ELEM* staging) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  ELEM* own = staging + blockIdx.x * tile_n;
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int first = 0; first < n; first += CAPACITY) {
      const int width = n - first < CAPACITY ? n - first : CAPACITY;
      __syncthreads();
      for (int j = threadIdx.x; j < width; j += blockDim.x) own[j] = input[row * input_stride + first + j];
      __syncthreads();
      ELEM* mine = output + ((rc_i64)group_rank * m + row) * output_stride + first;
      for (int j = threadIdx.x; j < width; j += blockDim.x)
        for (int peer = 0; peer < group_size; peer++) *rc_peer(mine + j, bases, rank, ranks[peer]) = own[j];
    }
}

// Blocks draw rows from a counter; the last one out puts it back to zero for the next call.
RC_KERNEL tickets(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
                  const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, rc_u32* counters) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  __shared__ int drawn;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) drawn = rc_fetch_add_system(counters, 1u);
    __syncthreads();
    if (drawn >= m) break;
    for (int column = threadIdx.x; column < n; column += blockDim.x) {
      ELEM* mine = output + ((rc_i64)group_rank * m + drawn) * output_stride + column;
      for (int peer = 0; peer < group_size; peer++)
        *rc_peer(mine, bases, rank, ranks[peer]) = input[drawn * input_stride + column];
    }
  }
#if !defined(COUNTER_NOT_RESET)
  if (threadIdx.x == 0 && rc_fetch_add_system(counters + 1, 1u) == gridDim.x - 1)
    rc_store_relaxed_system(counters, 0u), rc_store_relaxed_system(counters + 1, 0u);
#endif
}

// `first` holds the size and the ranks of the group of the first call.
RC_KERNEL remembered(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
                     const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, rc_u32* first) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  if (threadIdx.x == 0 && first[0] == 0) {
    for (int peer = 0; peer < group_size; peer++) first[1 + peer] = ranks[peer];
    first[0] = group_size;
  }
  __syncthreads();
#if defined(GROUP_OF_FIRST_CALL)
  const int peers = first[0];
  const rc_u32* targets = first + 1;
#else
  const int peers = group_size;
  const int* targets = ranks;
#endif
  for (int row = 0; row < m; row++)
    for (int column = threadIdx.x; column < n; column += blockDim.x) {
      ELEM* mine = output + ((rc_i64)group_rank * m + row) * output_stride + column;
      for (int peer = 0; peer < peers; peer++)
        *rc_peer(mine, bases, rank, targets[peer]) = input[row * input_stride + column];
    }
}
