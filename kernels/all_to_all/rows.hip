// All-to-all of rows: the parts for group ranks 0, 1, .. lie below each other in the input, and
// those from group ranks 0, 1, .. in the output. Uneven parts are packed: the tables say how many
// rows go to each peer, where they begin here, and where they begin there.
#include "rc_copy.h"

RC_KERNEL all_to_all_rows(RC_COPY_PARAMETERS, const int* send_rows, const int* send_first, const int* remote_first) {
  for (int step = 0; step < group_size; step++) {
    const int peer = (group_rank + step) % group_size;
    ELEM* theirs = rc_peer(output, heap_bases, rank, group_ranks[peer]);
    rc_copy_rows(input + send_first[peer] * input_stride, input_stride, theirs + remote_first[peer] * output_stride,
                 output_stride, send_rows[peer], n, blockIdx.x, gridDim.x);
  }
}
