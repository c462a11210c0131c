// An all_to_all through a staging area: chunks are staged, then every rank puts its own on its peers.
//
// Chunks that arrive have an area of their own, for a chunk that was not sent yet stays needed.
#include "rankcheck.h"

#if defined(EXCHANGED_IN_PLACE)
#define ARRIVED staged
#else
#define ARRIVED (staged + (rc_i64)group_size * m * n)
#endif

// Everybody is there: flags[rank] count meetings.
__device__ __forceinline__ void meet(rc_u32* flags, const rc_u64* bases, const int* ranks, int rank, int group_size,
                                     rc_u32 meeting) {
  __syncthreads();
  if (int(threadIdx.x) < group_size) {
    const int peer = ranks[threadIdx.x];
    rc_store_release_system(rc_peer(flags + rank, bases, rank, peer), meeting);
    while (int(rc_load_acquire_system(flags + peer) - meeting) < 0) rc_spin_hint();
  }
  __syncthreads();
}

RC_KERNEL exchange(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
                   const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, ELEM* staged,
                   rc_u32* flags, rc_u32 epoch) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  const int chunk = m * n;
  for (int i = threadIdx.x; i < group_size * chunk; i += blockDim.x) staged[i] = input[i / n * input_stride + i % n];
  meet(flags, bases, ranks, rank, group_size, 3 * epoch + 1);
  for (int peer = 0; peer < group_size; peer++)
    for (int i = threadIdx.x; i < chunk; i += blockDim.x)
      *rc_peer(ARRIVED + group_rank * chunk + i, bases, rank, ranks[peer]) = staged[peer * chunk + i];
  meet(flags, bases, ranks, rank, group_size, 3 * epoch + 2);
  for (int i = threadIdx.x; i < group_size * chunk; i += blockDim.x) output[i / n * output_stride + i % n] = ARRIVED[i];
  meet(flags, bases, ranks, rank, group_size, 3 * epoch + 3);
}
