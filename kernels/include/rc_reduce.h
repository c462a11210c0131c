// rc_reduce.h: operations of reductions, on HIP, CUDA and the CPU.
//
//   rc_pull<ACC>(mine, ..)           the members' elements at one place, combined in ACC
//   rc_tile                          rows and columns of a tile of (m, n)
//
// ELEM is the element type and ACC the type in which partial results are held; both are defined by
// the manifest. Conversions are the vendor's: to nearest, ties to even.
#pragma once
#include "rankcheck.h"
#include "rc_types.h"

enum rc_op { RC_SUM = 0, RC_PROD = 1, RC_MIN = 2, RC_MAX = 3, RC_AVG = 4, RC_PREMUL_SUM = 5 };

// A NaN wins, of two equal zeros the first.
template <class A>
__device__ __forceinline__ A rc_combine(int op, A a, A b) {
  switch (op) {
    case RC_PROD: return A(a * b);
    case RC_MIN: return b < a || b != b ? b : a;
    case RC_MAX: return a < b || b != b ? b : a;
    default: return A(a + b);
  }
}
template <class A, class T>
__device__ __forceinline__ A rc_operand(int op, T value, int scalar) {
  return op == RC_PREMUL_SUM ? A(A(value) * A(scalar)) : A(value);
}
template <class A>
__device__ __forceinline__ A rc_result(int op, A sum, int group_size) {
  return op == RC_AVG ? A(sum / A(group_size)) : sum;
}

// Who takes part, and how the heaps lie.
struct rc_group {
  const rc_u64* heap_bases;
  const int* ranks;    // by group rank
  const int* scalars;  // factors of a premultiplied sum
  int rank, group_rank, size;

  template <class T>
  __device__ __forceinline__ T* at(T* mine, int peer) const {
    return rc_peer(mine, heap_bases, rank, ranks[peer]);
  }
};

// The members' elements at `mine`, combined upwards from group rank `first`.
template <class A, class T>
__device__ __forceinline__ A rc_pull(const T* mine, const rc_group& group, int first, int op) {
  A sum = rc_operand<A>(op, *group.at(mine, first), group.scalars[first]);
  for (int step = 1; step < group.size; step++) {
    const int peer = (first + step) % group.size;
    sum = rc_combine<A>(op, sum, rc_operand<A>(op, *group.at(mine, peer), group.scalars[peer]));
  }
  return rc_result<A>(op, sum, group.size);
}

struct rc_tile {
  int row0, column0, rows, columns;
  __device__ __forceinline__ rc_tile(int number, int m, int n, int tile_m, int tile_n) {
    const int across = (n + tile_n - 1) / tile_n;
    row0 = number / across * tile_m;
    column0 = number % across * tile_n;
    rows = row0 + tile_m < m ? tile_m : m - row0;
    columns = column0 + tile_n < n ? tile_n : n - column0;
  }
  __device__ __forceinline__ int elements() const { return rows * columns; }
  __device__ __forceinline__ int row(int element) const { return row0 + element / columns; }
  __device__ __forceinline__ int column(int element) const { return column0 + element % columns; }
};
__device__ __forceinline__ int rc_tiles(int m, int n, int tile_m, int tile_n) {
  return (m + tile_m - 1) / tile_m * ((n + tile_n - 1) / tile_n);
}

// What every kernel over tiles takes; the manifests' `args` begin like this.
#define RC_TILE_PARAMETERS                                                                          \
  const ELEM *input, ELEM *output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,         \
      const rc_u64 *heap_bases, const int *group_ranks, const int *scalars, int rank, int group_rank, \
      int group_size, int tile_m, int tile_n, int op
#define RC_TILE_GROUP \
  const rc_group group = {heap_bases, group_ranks, scalars, rank, group_rank, group_size}
