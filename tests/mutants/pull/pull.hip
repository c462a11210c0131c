// Copy collectives that read from their peers' inputs, which are there before any rank runs.
#include "rankcheck.h"

#define PARAMETERS                                                                            \
  const ELEM *input, ELEM *output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,   \
      const rc_u64 *inputs, const int *ranks, int rank, int group_rank, int group_size, int root

// Copies `m` rows of `from`'s input, from `first` in steps of `step`, to the output's rows from `to`.
__device__ __forceinline__ void pull(PARAMETERS, int from, rc_i64 first, rc_i64 step, rc_i64 to) {
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int column = threadIdx.x; column < n; column += blockDim.x)
      output[(to + row) * output_stride + column] =
          ((const ELEM*)inputs[from])[(first + row * step) * input_stride + column];
}
#define PULL(from, first, step, to)                                                                        \
  pull(input, output, m, n, input_stride, output_stride, inputs, ranks, rank, group_rank, group_size, root, \
       from, first, step, to)

// Which rank the root is.
#if defined(ROOT_FROM_START)
#define ROOT_RANK (ranks[0] + root)
#elif defined(ROOT_IGNORED)
#define ROOT_RANK ranks[0]
#elif defined(ROOT_IS_A_RANK)
#define ROOT_RANK root
#elif defined(RANK_OF_ROOT_AS_INDEX)
#define ROOT_RANK ranks[ranks[root]]
#else
#define ROOT_RANK ranks[root]
#endif

RC_KERNEL broadcast(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  PULL(ROOT_RANK, 0, 1, 0);
}

RC_KERNEL scatter(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 64, group_size);
#if defined(ALONG_THE_OTHER_DIMENSION)
  PULL(ROOT_RANK, group_rank, group_size, 0);
#else
  PULL(ROOT_RANK, (rc_i64)group_rank * m, 1, 0);
#endif
}

RC_KERNEL gather(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 64, group_size);
#if !defined(ON_EVERY_MEMBER)
  if (group_rank != root) return;
#endif
  for (int peer = 0; peer < group_size; peer++) PULL(ranks[peer], 0, 1, (rc_i64)peer * m);
}

RC_KERNEL all_to_all(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  for (int peer = 0; peer < group_size; peer++) {
#if defined(OWN_CHUNK)
    PULL(ranks[peer], (rc_i64)peer * m, 1, (rc_i64)peer * m);
#elif defined(LANDS_AT_DESTINATION)
    PULL(ranks[peer], (rc_i64)group_rank * m, 1, (rc_i64)group_rank * m);
#elif defined(RANK_IN_4_BITS)
    PULL(ranks[peer] & 15, (rc_i64)group_rank * m, 1, (rc_i64)peer * m);
#elif defined(RANK_IN_5_BITS)
    PULL(ranks[peer] & 31, (rc_i64)group_rank * m, 1, (rc_i64)peer * m);
#elif defined(CHUNK_OF_RANK)
    PULL(ranks[peer], (rc_i64)rank * m, 1, (rc_i64)peer * m);
#else
    PULL(ranks[peer], (rc_i64)group_rank * m, 1, (rc_i64)peer * m);
#endif
  }
}

// Knows its group by a start and a stride.
RC_KERNEL strided(PARAMETERS, int start, int stride) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  for (int peer = 0; peer < group_size; peer++) {
#if defined(STRIDE_AS_EXPONENT)
    const int from = start + (peer << stride);
#elif defined(FIRST_SHARD_FOR_ALL)
    const int from = start;
#else
    const int from = start + peer * stride;
#endif
    PULL(from, 0, 1, (rc_i64)peer * m);
  }
}
