// A barrier in ceil(log2 W) steps, which says who was let through early.
#include "rankcheck.h"

RC_KERNEL pairs(const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, rc_u32* came,
                rc_u32* flags, rc_u32* missed, rc_u32 epoch) {
  RC_RECORD_LAUNCH(1, 1, group_size);
  const rc_u32 tick = epoch + 1;
  for (int peer = 0; peer < group_size; peer++)
    rc_store_relaxed_system(rc_peer(came + group_rank, bases, rank, ranks[peer]), tick);
#if defined(ONE_STEP_SHORT)
  for (int step = 0; 2 << step < group_size; step++) {
#else
  for (int step = 0; 1 << step < group_size; step++) {
#endif
#if defined(POWERS_OF_TWO)
    const int peer = group_rank ^ 1 << step;
    if (peer >= group_size) continue;
#else
    const int peer = (group_rank + (1 << step)) % group_size;
#endif
    rc_store_release_system(rc_peer(flags + step, bases, rank, ranks[peer]), tick);
#if defined(TICK_OF_16_BITS)
    while ((short)(rc_load_acquire_system(flags + step)) < (short)tick) rc_spin_hint();
#else
    while ((int)(rc_load_acquire_system(flags + step) - tick) < 0) rc_spin_hint();
#endif
  }
  for (int peer = 0; peer < group_size; peer++)
    if ((int)(rc_load_relaxed_system(came + peer) - tick) < 0) rc_fetch_add_system(missed, 1u);
}
