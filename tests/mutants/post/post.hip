// An all-gather by pushing: row after row, every block stores its row into an inbox on every rank,
// raises a flag there, waits for all flags and copies what it was given. Two inboxes in turn: who
// has seen a peer's flag knows that it has read the row before, so nobody needs to acknowledge.
#include "rankcheck.h"

#define MOST_RANKS 8
#define TICK (epoch * 1024u + pass + 1u)

// How a flag is raised and seen: release and acquire, both at system scope.
__device__ __forceinline__ void raise(rc_u32* flag, rc_u32 tick) {
#if defined(RELEASE_OF_AGENT)
  __hip_atomic_store(flag, tick, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
#elif defined(RELAXED_FLAG)
  rc_store_relaxed_system(flag, tick);
#elif defined(FENCE_OF_AGENT)
  __threadfence();
  rc_store_relaxed_system(flag, tick);
#elif defined(FENCE_BEHIND_FLAG)
  rc_store_relaxed_system(flag, tick);
  __threadfence_system();
#elif defined(FLAG_IS_RESET)
  rc_store_release_system(flag, 1u);
#else
  rc_store_release_system(flag, tick);
#endif
}

__device__ __forceinline__ void see(rc_u32* flag, rc_u32 tick) {
#if defined(ACQUIRE_OF_AGENT)
  while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < tick) rc_spin_hint();
#elif defined(RELAXED_LOAD)
  while (rc_load_relaxed_system(flag) < tick) rc_spin_hint();
#elif defined(FLAG_IS_RESET)
  while (rc_load_acquire_system(flag) != 1u) rc_spin_hint();
  rc_store_relaxed_system(flag, 0u);
#else
  while (rc_load_acquire_system(flag) < tick) rc_spin_hint();
#endif
}

RC_KERNEL post(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
               const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, ELEM* inbox,
               rc_u32* flags, rc_u8* bytes, rc_u32* rows, rc_u32 epoch) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  const int peer = threadIdx.x;
  const bool has_peer = peer < group_size;
  rc_u32* flags_of_block = flags + blockIdx.x * MOST_RANKS;
  const int boxes = group_size * n;
  rc_u32 pass = 0;
  for (int row = blockIdx.x; row < m; row += gridDim.x, pass++) {
    ELEM* box = inbox + (pass % 2 * gridDim.x + blockIdx.x) * boxes;
    ELEM* next_box = inbox + ((pass + 1) % 2 * gridDim.x + blockIdx.x) * boxes;
    // Which row a block has in hand stands in a table.
#if defined(ROWS_OF_ALL_BLOCKS)
    if (blockIdx.x == 0 && threadIdx.x < gridDim.x) rows[threadIdx.x] = pass * gridDim.x + threadIdx.x;
#else
    if (threadIdx.x == 0) rows[blockIdx.x] = row;
#endif
    __syncthreads();
#if !defined(CLEARS_LATE)
    for (int i = threadIdx.x; i < boxes; i += blockDim.x) next_box[i] = ELEM(0);
#endif
    for (int column = threadIdx.x; column < n; column += blockDim.x)
      for (int to = 0; to < group_size; to++)
        *rc_peer(box + group_rank * n + column, bases, rank, ranks[to]) = input[rows[blockIdx.x] * input_stride + column];
    __syncthreads();
#if defined(BYTE_FLAGS)
    rc_u8* bytes_of_block = bytes + blockIdx.x * MOST_RANKS;
    __threadfence_system();
    if (has_peer) *(volatile rc_u8*)rc_peer(bytes_of_block + group_rank, bases, rank, ranks[peer]) = rc_u8(TICK);
    if (threadIdx.x == 0) {
      rc_u64 all = 0;
      for (int from = 0; from < group_size; from++) all |= rc_u64(rc_u8(TICK)) << 8 * from;
      while (*(volatile rc_u64*)bytes_of_block != all) rc_spin_hint();
    }
    __threadfence_system();
#else
    if (has_peer) raise(rc_peer(flags_of_block + group_rank, bases, rank, ranks[peer]), TICK);
#if !defined(RETURNS_EARLY)
    if (has_peer) see(flags_of_block + peer, TICK);
#endif
#endif
    __syncthreads();
#if defined(CLEARS_LATE)
    for (int i = threadIdx.x; i < boxes; i += blockDim.x) next_box[i] = ELEM(0);
#endif
    for (int from = 0; from < group_size; from++)
      for (int column = threadIdx.x; column < n; column += blockDim.x)
        output[((rc_i64)from * m + row) * output_stride + column] = box[from * n + column];
    __syncthreads();
  }
}
