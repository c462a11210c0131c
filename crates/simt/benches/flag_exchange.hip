// A flag exchange: every rank pushes a row to every rank, raises a flag there, waits for all
// flags and reads what it was given; three rounds in two slots, so that no acknowledgement is
// needed.
#include "rankcheck.h"

enum : int { RANKS = 4, ROUNDS = 3 };

RC_KERNEL flag_exchange(rc_u32* rows, rc_u32* flags, const rc_u64* bases, int rank) {
  const int t = threadIdx.x, n = blockDim.x;
  rc_u32 sum = 0;
  for (rc_u32 round = 1; round <= ROUNDS; round++) {
    rc_u32* slot = rows + (round % 2) * RANKS * n;
    for (int peer = 0; peer < RANKS; peer++) rc_peer(slot + rank * n + t, bases, rank, peer)[0] = round + t;
    __syncthreads();
    if (t < RANKS) {
      rc_store_release_system(rc_peer(flags + 16 * rank, bases, rank, t), round);
      while (rc_load_acquire_system(flags + 16 * t) < round) rc_spin_hint();
    }
    __syncthreads();
    for (int peer = 0; peer < RANKS; peer++) sum += slot[peer * n + (t + 1) % n];
  }
  rows[2 * RANKS * n + t] = sum;
}
