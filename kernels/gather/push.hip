// Gather: every rank stores its rows into the root's output.
#include "rc_copy.h"

RC_KERNEL gather_push(RC_COPY_PARAMETERS, int root) {
  ELEM* theirs = rc_peer(output, heap_bases, rank, group_ranks[root]);
  rc_copy_rows(input, input_stride, theirs + (rc_i64)group_rank * m * output_stride, output_stride, m, n, blockIdx.x,
               gridDim.x);
}
