// All-gather by reading: every rank copies the inputs of all ranks, beginning with its own.
#include "rc_copy.h"

RC_KERNEL all_gather_pull(RC_COPY_PARAMETERS) {
  for (int step = 0; step < group_size; step++) {
    const int peer = (group_rank + step) % group_size;
    rc_copy_rows(rc_peer(input, heap_bases, rank, group_ranks[peer]), input_stride,
                 output + (rc_i64)peer * m * output_stride, output_stride, m, n, blockIdx.x, gridDim.x);
  }
}
