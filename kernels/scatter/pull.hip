// Scatter: every rank reads its rows of the root's input.
#include "rc_copy.h"

RC_KERNEL scatter_pull(RC_COPY_PARAMETERS, int root) {
  const ELEM* theirs = rc_peer(input, heap_bases, rank, group_ranks[root]);
  rc_copy_rows(theirs + (rc_i64)group_rank * m * input_stride, input_stride, output, output_stride, m, n, blockIdx.x,
               gridDim.x);
}
