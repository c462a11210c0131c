// All-to-all of columns: the parts lie beside each other, n columns each, in input and output.
#include "rc_copy.h"

RC_KERNEL all_to_all_columns(RC_COPY_PARAMETERS) {
  for (int step = 0; step < group_size; step++) {
    const int peer = (group_rank + step) % group_size;
    ELEM* theirs = rc_peer(output, heap_bases, rank, group_ranks[peer]);
    rc_copy_rows(input + (rc_i64)peer * n, input_stride, theirs + (rc_i64)group_rank * n, output_stride, m, n,
                 blockIdx.x, gridDim.x);
  }
}
