// Push all-gathers that divide the work between blocks: rows in equal shares, or peers.
#include "rankcheck.h"

#define PARAMETERS                                                                            \
  const ELEM *input, ELEM *output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,   \
      const rc_u64 *bases, const int *ranks, int rank, int group_rank, int group_size

__device__ __forceinline__ void push_row(PARAMETERS, int row, int peer) {
  for (int column = threadIdx.x; column < n; column += blockDim.x) {
    ELEM* mine = output + ((rc_i64)group_rank * m + row) * output_stride + column;
    *rc_peer(mine, bases, rank, ranks[peer]) = input[row * input_stride + column];
  }
}

#if defined(REMAINDER_IGNORED)
#define REMAINDER 0
#elif defined(REMAINDER_OF_ANOTHER_UNIT)
#define REMAINDER (n % blocks)
#else
#define REMAINDER (m % blocks)
#endif

// Every block a share of the rows; the first blocks take one more.
RC_KERNEL split_rows(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  const int blocks = gridDim.x, block = blockIdx.x, share = m / blocks, more = REMAINDER;
  const int first = block * share + (block < more ? block : more);
  const int last = first + share + (block < more);
  for (int row = first; row < last && row < m; row++)
    for (int peer = 0; peer < group_size; peer++)
      push_row(input, output, m, n, input_stride, output_stride, bases, ranks, rank, group_rank, group_size, row, peer);
}

// Every peer a share of the blocks.
RC_KERNEL split_peers(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  const int a_peer = gridDim.x / group_size, peer = blockIdx.x / a_peer;
#if !defined(PARTITION_BEYOND_GROUP)
  if (peer >= group_size) return;
#endif
  for (int row = blockIdx.x % a_peer; row < m; row += a_peer)
    push_row(input, output, m, n, input_stride, output_stride, bases, ranks, rank, group_rank, group_size, row, peer);
}
