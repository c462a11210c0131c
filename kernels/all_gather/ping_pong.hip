// All-gather that waits: every rank pushes its rows to the group, then block 0 of each rank plays
// `rounds` rounds of flag ping-pong with its peers, so that no rank returns before all have pushed.
//
// flags[p] on a rank is written by peer p only, with an epoch that grows over rounds and calls:
// nothing is ever reset, so a late peer cannot see a stale flag as a new one. Nobody pushes into a rank
// whose call has not begun.
#include "rc_meet.h"

RC_KERNEL all_gather_ping_pong(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride,
                               rc_i64 output_stride, const rc_u64* heap_bases, const int* group_ranks, int rank,
                               int group_rank, int group_size, rc_u32* flags, rc_u32* arrived, rc_u32* begun,
                               rc_u32 epoch, int rounds) {
  rc_meet(begun, heap_bases, group_ranks, rank, group_rank, group_size, epoch);
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int column = threadIdx.x; column < n; column += blockDim.x) {
      const ELEM value = input[row * input_stride + column];
      ELEM* mine = output + ((rc_i64)group_rank * m + row) * output_stride + column;
      for (int peer = 0; peer < group_size; peer++) *rc_peer(mine, heap_bases, rank, group_ranks[peer]) = value;
    }

  // All blocks of this rank have pushed: the last one to say so lets block 0 go on.
  __syncthreads();
  if (threadIdx.x == 0) rc_fetch_add_system(arrived, 1u);
  if (blockIdx.x != 0) return;
  if (threadIdx.x == 0)
    while (rc_load_acquire_system(arrived) < gridDim.x) rc_spin_hint();
  __syncthreads();

  const int peer = threadIdx.x;
  if (peer >= group_size) return;
  for (int round = 1; round <= rounds; round++) {
    const rc_u32 tick = epoch * rounds + round;
    rc_store_release_system(rc_peer(flags + group_rank, heap_bases, rank, group_ranks[peer]), tick);
    while (rc_load_acquire_system(flags + peer) < tick) rc_spin_hint();
  }
}
