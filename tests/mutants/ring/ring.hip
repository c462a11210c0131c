// An all-gather that waits: every block stages a row, raises a flag on its peers, waits for theirs,
// pulls their rows, and says that it has taken them.
//
// Delays are part of the kernel, so that ranks, blocks and threads of a block drift apart.
#include "rankcheck.h"

#if defined(READY_IS_CONSTANT)
#define TICK 1u
#elif defined(EPOCH_IS_CONSTANT)
#define TICK (pass + 1u)
#else
#define TICK (epoch * 65536u + pass + 1u)
#endif

#if defined(ONE_BLOCK_SIGNALS)
#define SIGNALS (blockIdx.x == 0)
#define FLAGS_OF_BLOCK 0
#else
#define SIGNALS true
#define FLAGS_OF_BLOCK blockIdx.x
#endif

__device__ __forceinline__ void wait_for(const rc_u32* flag, rc_u32 tick) {
  while (rc_load_acquire_system(flag) < tick) rc_spin_hint();
}

__device__ __forceinline__ void delay(int group_rank) {
  const int steps = (group_rank == 0 ? 12 : 8 * group_rank) + int(blockIdx.x) * 64 * (1 + group_rank) +
                    (group_rank > 0 && threadIdx.x >= 32 ? 32 : 0);
  for (int step = 0; step < steps; step++) RC_STEP();
}

RC_KERNEL ring(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
               const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, ELEM* staging,
               rc_u32* ready, rc_u32* taken, rc_u32* done, rc_u32 epoch) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  const int peer = threadIdx.x;
  const bool has_peer = peer < group_size;
  ELEM* slot = staging + blockIdx.x * n;
  rc_u32* ready_of_block = ready + FLAGS_OF_BLOCK * group_size;
  rc_u32* taken_of_block = taken + blockIdx.x * group_size;
#if defined(IDLE_BLOCK_IS_SILENT)
  if (int(blockIdx.x) >= m) return;
#endif
  int pass = 0;
  for (int row = blockIdx.x; row < m; row += gridDim.x, pass++) {
    // Nobody needs the row that the slot holds any more.
#if !defined(NO_ACKNOWLEDGEMENT)
    if (pass > 0 && has_peer) wait_for(taken_of_block + peer, TICK - 1);
    __syncthreads();
#endif
#if defined(FLAG_BEFORE_DATA)
    if (has_peer) rc_store_release_system(rc_peer(ready_of_block + group_rank, bases, rank, ranks[peer]), TICK);
#endif
    delay(group_rank);
    for (int column = threadIdx.x; column < n; column += blockDim.x) slot[column] = input[row * input_stride + column];
#if defined(BARRIER_IN_BRANCH)
    if (threadIdx.x < 32) __syncthreads();
    RC_STEP();
#endif
#if !defined(NO_BARRIER_BEFORE_FLAG)
    __syncthreads();
#endif
#if !defined(FLAG_BEFORE_DATA)
    if (has_peer && SIGNALS)
      rc_store_release_system(rc_peer(ready_of_block + group_rank, bases, rank, ranks[peer]), TICK);
#endif
#if !defined(NO_WAIT)
    if (has_peer) wait_for(ready_of_block + peer, TICK);
    __syncthreads();
#endif
    for (int from = 0; from < group_size; from++)
      for (int column = threadIdx.x; column < n; column += blockDim.x)
        output[((rc_i64)from * m + row) * output_stride + column] = *rc_peer(slot + column, bases, rank, ranks[from]);
    __syncthreads();
    if (has_peer) rc_store_release_system(rc_peer(taken_of_block + group_rank, bases, rank, ranks[peer]), TICK);
  }
  // A rank is done when all its blocks are.
  if (threadIdx.x == 0) rc_fetch_add_system(done, 1u);
  if (threadIdx.x == 0 && blockIdx.x == 0) wait_for(done, gridDim.x);
}
