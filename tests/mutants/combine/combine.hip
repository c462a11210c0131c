// Reductions that read from their peers' inputs, which are there before any rank runs.
#include "rc_reduce.h"

#define PARAMETERS                                                                                   \
  const ELEM *input, ELEM *output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,          \
      const rc_u64 *inputs, const int *ranks, const int *scalars, int rank, int group_rank,          \
      int group_size, int world, int root, int op
#define ARGUMENTS                                                                                     \
  input, output, m, n, input_stride, output_stride, inputs, ranks, scalars, rank, group_rank, group_size, \
      world, root, op

// In what partial results are held.
#if defined(ACCUMULATES_IN_ELEMENT)
typedef ELEM acc;
#elif defined(ACCUMULATES_IN_FLOAT)
typedef float acc;
#elif defined(ACCUMULATES_IN_INT)
typedef int acc;
#else
typedef ACC acc;
#endif

__device__ __forceinline__ acc combine(int op, acc a, acc b) {
#if defined(OPERATORS_SWAPPED)
  if (op == RC_MAX) op = RC_MIN;
#endif
  if (op == RC_PROD) return acc(a * b);
  if (op == RC_MIN) return b < a || b != b ? b : a;
#if defined(NAN_BY_ORDER)
  if (op == RC_MAX) return a > b ? a : b;
#else
  if (op == RC_MAX) return a < b || b != b ? b : a;
#endif
  return acc(a + b);
}

__device__ __forceinline__ acc operand(PARAMETERS, int peer, rc_i64 row, int column) {
  const acc value = acc(((const ELEM*)inputs[ranks[peer]])[row * input_stride + column]);
#if defined(FACTOR_OF_RANK)
  const int factor = scalars[ranks[peer] % group_size];
#else
  const int factor = scalars[peer];
#endif
  return op == RC_PREMUL_SUM ? acc(value * acc(factor)) : value;
}

// The members' elements at (row, column) of their inputs, in the order of group ranks.
__device__ __forceinline__ ELEM combined(PARAMETERS, rc_i64 row, int column) {
#if defined(BEGINS_WITH_OWN)
  const int first = group_rank;
#else
  const int first = 0;
#endif
#if defined(LAST_LEFT_OUT)
  const int members = group_size - 1;
#else
  const int members = group_size;
#endif
  acc sum = operand(ARGUMENTS, first, row, column);
#if defined(IDENTITY_IS_SMALLEST)
  if (op == RC_MAX) sum = combine(op, acc(1.17549435e-38f), sum);
#endif
  for (int step = 1; step < members; step++)
    sum = combine(op, sum, operand(ARGUMENTS, (first + step) % group_size, row, column));
#if defined(OWN_TWICE)
  sum = combine(op, sum, operand(ARGUMENTS, group_rank, row, column));
#endif
#if defined(DIVIDES_BY_WORLD)
  const int divisor = world;
#else
  const int divisor = group_size;
#endif
  return ELEM(op == RC_AVG ? acc(sum / acc(divisor)) : sum);
}

// Writes rows `first`.. of the combined inputs.
__device__ __forceinline__ void reduce_rows(PARAMETERS, rc_i64 first) {
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int column = threadIdx.x; column < n; column += blockDim.x)
      output[row * output_stride + column] = combined(ARGUMENTS, first + row, column);
}

RC_KERNEL combine_all(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
  reduce_rows(ARGUMENTS, 0);
}

RC_KERNEL combine_to_root(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
#if defined(ROOT_IS_A_RANK)
  if (rank != root) return;
#elif !defined(ON_EVERY_MEMBER)
  if (group_rank != root) return;
#endif
  reduce_rows(ARGUMENTS, 0);
}

RC_KERNEL combine_and_scatter(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
#if defined(PART_OF_RANK)
  const int part = rank % group_size;
#elif defined(FIRST_PART_FOR_ALL)
  const int part = 0;
#else
  const int part = group_rank;
#endif
  reduce_rows(ARGUMENTS, (rc_i64)part * m);
}

// Tiles of one row and sixteen columns belong to group ranks 0, 1, .. in turn.
RC_KERNEL combine_tiles(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
  const int across = (n + 15) / 16, tiles = m * across;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
#if defined(OWNED_IN_BLOCKS)
    const int owner = tile / ((tiles + group_size - 1) / group_size);
#else
    const int owner = tile % group_size;
#endif
#if !defined(EVERY_TILE)
    if (owner != group_rank) continue;
#endif
    const int row = tile / across, column = tile % across * 16 + threadIdx.x;
    if (threadIdx.x < 16 && column < n) output[row * output_stride + column] = combined(ARGUMENTS, row, column);
  }
}
