// All-to-all by pushing: parts beside each other, or parts of uneven numbers of rows.
#include "rankcheck.h"

#define PARAMETERS                                                                              \
  const ELEM *input, ELEM *output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,     \
      const rc_u64 *bases, const int *ranks, int rank, int group_rank, int group_size,          \
      const int *send_rows, const int *send_first, const int *receive_rows, const int *remote_first

RC_KERNEL exchange_columns(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
  for (int peer = 0; peer < group_size; peer++)
    for (int row = blockIdx.x; row < m; row += gridDim.x)
      for (int column = threadIdx.x; column < n; column += blockDim.x) {
#if defined(LANDS_AT_DESTINATION)
        ELEM* mine = output + row * output_stride + peer * n + column;
#else
        ELEM* mine = output + row * output_stride + group_rank * n + column;
#endif
        *rc_peer(mine, bases, rank, ranks[peer]) = input[row * input_stride + peer * n + column];
      }
}

RC_KERNEL exchange_counts(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
  for (int peer = 0; peer < group_size; peer++) {
#if defined(COUNTS_OF_RECEIVER)
    const int rows = receive_rows[peer];
#else
    const int rows = send_rows[peer];
#endif
#if defined(PARTS_NOT_PACKED)
    const int first = group_rank * m;
#else
    const int first = remote_first[peer];
#endif
    for (int row = blockIdx.x; row < rows; row += gridDim.x)
      for (int column = threadIdx.x; column < n; column += blockDim.x)
        *rc_peer(output + (first + row) * output_stride + column, bases, rank, ranks[peer]) =
            input[(send_first[peer] + row) * input_stride + column];
  }
}
