// All-gather around a ring: a rank copies its own rows, then W-1 times what its predecessor's
// output has just received. Block b handles rows b, b + grid, .. of every part, so a block waits
// only for the same block of its predecessor: steps[b] there counts the parts that are complete. No
// rank returns before its successor has read its output.
#include "rc_copy.h"
#include "rc_meet.h"

RC_KERNEL all_gather_ring(RC_COPY_PARAMETERS, rc_u32* steps, rc_u32* done_reading, rc_u32 epoch) {
  const int previous = (group_rank + group_size - 1) % group_size;
  ELEM* theirs = rc_peer(output, heap_bases, rank, group_ranks[previous]);
  rc_u32* their_step = rc_peer(steps + blockIdx.x, heap_bases, rank, group_ranks[previous]);
  const rc_u32 done = epoch << 5;
  for (int step = 0; step < group_size; step++) {
    const int part = (group_rank + group_size - step) % group_size;
    ELEM* target = output + (rc_i64)part * m * output_stride;
    if (step == 0) {
      rc_copy_rows(input, input_stride, target, output_stride, m, n, blockIdx.x, gridDim.x);
    } else {
      if (threadIdx.x == 0)
        while (rc_load_acquire_system(their_step) - done - step > 31u) rc_spin_hint();
      __syncthreads();
      rc_copy_rows(theirs + (rc_i64)part * m * output_stride, output_stride, target, output_stride, m, n, blockIdx.x,
                   gridDim.x);
    }
    __syncthreads();
    if (threadIdx.x == 0) rc_store_release_system(steps + blockIdx.x, done + step + 1);
  }
  rc_meet(done_reading, heap_bases, group_ranks, rank, group_rank, group_size, epoch);
}
