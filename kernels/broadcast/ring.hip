// Broadcast around a ring: every rank passes its rows on to its successor, block by block, until the
// last one before the root has them. Nobody passes rows to a rank whose call has not begun.
#include "rc_copy.h"
#include "rc_meet.h"

RC_KERNEL broadcast_ring(RC_COPY_PARAMETERS, int root, rc_u32* arrived, rc_u32* begun, rc_u32 epoch) {
  rc_meet(begun, heap_bases, group_ranks, rank, group_rank, group_size, epoch);
  const bool is_root = group_rank == root;
  const int next = (group_rank + 1) % group_size;
  if (is_root) {
    rc_copy_rows(input, input_stride, output, output_stride, m, n, blockIdx.x, gridDim.x);
  } else {
    if (threadIdx.x == 0)
      while (rc_load_acquire_system(arrived + blockIdx.x) != epoch + 1) rc_spin_hint();
    __syncthreads();
  }
  if (next == root) return;
  const ELEM* source = is_root ? input : output;
  const rc_i64 stride = is_root ? input_stride : output_stride;
  rc_copy_rows(source, stride, rc_peer(output, heap_bases, rank, group_ranks[next]), output_stride, m, n, blockIdx.x,
               gridDim.x);
  __syncthreads();
  if (threadIdx.x == 0)
    rc_store_release_system(rc_peer(arrived + blockIdx.x, heap_bases, rank, group_ranks[next]), epoch + 1);
}
