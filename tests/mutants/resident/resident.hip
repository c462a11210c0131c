// A barrier of ranks, block by block: a block waits for the block of its own number on every peer.
//
// flags[rank * MOST_BLOCKS + block] hold the number of the last call.
#include "rankcheck.h"

#define MOST_BLOCKS 8

#if defined(FOR_ALL_BLOCKS)
#define BLOCKS int block = 0; block < int(gridDim.x); block++
#else
#define BLOCKS int block = blockIdx.x; block == int(blockIdx.x); block++
#endif

RC_KERNEL resident(const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, rc_u32* flags,
                   rc_u32 epoch) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  if (int(threadIdx.x) >= group_size) return;
  const int peer = ranks[threadIdx.x];
  const rc_u32 tick = epoch + 1;
  rc_store_release_system(rc_peer(flags + rank * MOST_BLOCKS + blockIdx.x, bases, rank, peer), tick);
  for (BLOCKS)
    while (int(rc_load_acquire_system(flags + peer * MOST_BLOCKS + block) - tick) < 0) rc_spin_hint();
}
