// Barriers over a group, one block a rank. So that a barrier that lets somebody through early is
// seen, every rank says to all peers that it has come before it enters, and counts, behind the
// barrier, those of whom it has not heard: `missed` must stay zero.
//
// Flags carry an epoch that grows over rounds and calls; nothing is ever reset, so a flag of an
// earlier round or call is never taken for this one's.
#include "rankcheck.h"

#define PARAMETERS                                                                              \
  const rc_u64 *heap_bases, const int *group_ranks, int rank, int group_rank, int group_size,   \
      rc_u32 *came, rc_u32 *flags, rc_u32 *missed, rc_u32 epoch, int rounds
#define AT(pointer, peer) rc_peer(pointer, heap_bases, rank, group_ranks[peer])

__device__ __forceinline__ void come(PARAMETERS, rc_u32 tick) {
  for (int peer = threadIdx.x; peer < group_size; peer += blockDim.x)
    rc_store_relaxed_system(AT(came + group_rank, peer), tick);
  __syncthreads();
}
__device__ __forceinline__ void count(PARAMETERS, rc_u32 tick) {
  __syncthreads();
  for (int peer = threadIdx.x; peer < group_size; peer += blockDim.x)
    if ((int)(rc_load_relaxed_system(came + peer) - tick) < 0) rc_fetch_add_system(missed, 1u);
}
#define ARGUMENTS heap_bases, group_ranks, rank, group_rank, group_size, came, flags, missed, epoch, rounds

// Everybody tells everybody, and waits for everybody.
RC_KERNEL barrier_flags(PARAMETERS) {
  for (int round = 1; round <= rounds; round++) {
    const rc_u32 tick = epoch * rounds + round;
    come(ARGUMENTS, tick);
    for (int peer = threadIdx.x; peer < group_size; peer += blockDim.x) {
      rc_store_release_system(AT(flags + group_rank, peer), tick);
      while ((int)(rc_load_acquire_system(flags + peer) - tick) < 0) rc_spin_hint();
    }
    count(ARGUMENTS, tick);
  }
}

// In step k everybody tells the one 2^k further and waits for the one 2^k behind (Hensgen, Finkel
// and Manber 1988): ceil(log2 W) steps, right for any number of ranks.
RC_KERNEL barrier_dissemination(PARAMETERS) {
  for (int round = 1; round <= rounds; round++) {
    const rc_u32 tick = epoch * rounds + round;
    come(ARGUMENTS, tick);
    if (threadIdx.x == 0)
      for (int step = 0; 1 << step < group_size; step++) {
        const int peer = (group_rank + (1 << step)) % group_size;
        rc_store_release_system(AT(flags + step, peer), tick);
        while ((int)(rc_load_acquire_system(flags + step) - tick) < 0) rc_spin_hint();
      }
    count(ARGUMENTS, tick);
  }
}
