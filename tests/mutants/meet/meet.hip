// A barrier: every block of every rank raises a flag on every peer and waits for all of theirs.
//
// flags[rank * MOST_BLOCKS + block], ticks that grow over calls from just below 2^31.
#include "rankcheck.h"

#define MOST_BLOCKS 8

#if defined(TICK_OF_BLOCK) || defined(TICK_OF_RANK)
#define TICK (first_tick + counted)
#else
#define TICK (first_tick + epoch)
#endif

#if defined(SIGNED_EPOCH)
#define WAITS(flag, tick) ((int)(flag) <= (int)((tick) - 1))
#else
#define WAITS(flag, tick) ((int)((flag) - (tick)) < 0)
#endif

#if defined(WHOLE_WORLD)
#define MEMBERS world
#define MEMBER(i) (i)
#else
#define MEMBERS group_size
#define MEMBER(i) ranks[i]
#endif

RC_KERNEL meet(const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, int world,
               rc_u32* flags, rc_u32* counters, rc_u32 epoch, rc_u32 first_tick) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  const int member = threadIdx.x;
  if (member >= MEMBERS) return;
#if defined(ONE_RANK_STAYS_AWAY)
  if (group_rank == 1) return;
#endif
  const int peer = MEMBER(member);
#if defined(TICK_OF_BLOCK)
  const rc_u32 counted = counters[blockIdx.x * 16 + member]++;
#elif defined(TICK_OF_RANK)
  const rc_u32 counted = counters[member]++;
#endif
#if defined(FLAGS_ZEROED_LATE)
  rc_store_relaxed_system(flags + peer * MOST_BLOCKS + blockIdx.x, 0u);
#endif
  rc_store_release_system(rc_peer(flags + rank * MOST_BLOCKS + blockIdx.x, bases, rank, peer), TICK);
  for (int block = 0; block < int(gridDim.x); block++)
    while (WAITS(rc_load_acquire_system(flags + peer * MOST_BLOCKS + block), TICK)) rc_spin_hint();
}
