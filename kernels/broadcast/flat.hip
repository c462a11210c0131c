// Broadcast in one step: the root stores its rows into everybody's output.
#include "rc_copy.h"

RC_KERNEL broadcast_flat(RC_COPY_PARAMETERS, int root) {
  if (group_rank != root) return;
  for (int step = 0; step < group_size; step++) {
    const int peer = (root + step) % group_size;
    rc_copy_rows(input, input_stride, rc_peer(output, heap_bases, rank, group_ranks[peer]), output_stride, m, n,
                 blockIdx.x, gridDim.x);
  }
}
