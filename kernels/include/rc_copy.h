// rc_copy.h: loops that kernels share which move rows of elements between heaps.
#pragma once
#include "rankcheck.h"

// Copies rows `first`, `first + step`, .. below `rows` of n elements, 16 bytes a thread where both
// ends allow it.
template <class T>
__device__ __forceinline__ void rc_copy_rows(const T* from, rc_i64 from_stride, T* to, rc_i64 to_stride, int rows,
                                             int n, int first, int step) {
  const int vector = int(16 / sizeof(T));
  for (int row = first; row < rows; row += step) {
    const T* source = from + row * from_stride;
    T* target = to + row * to_stride;
    const bool aligned = (((rc_u64)source | (rc_u64)target) & 15) == 0;
    const int whole = aligned ? n / vector * vector : 0;
    for (int i = threadIdx.x * vector; i < whole; i += blockDim.x * vector)
      *(rc_vec16*)(target + i) = *(const rc_vec16*)(source + i);
    for (int i = whole + threadIdx.x; i < n; i += blockDim.x) target[i] = source[i];
    RC_STEP();
  }
}

// What these kernels take first; the manifests' `args` begin like this.
#define RC_COPY_PARAMETERS                                                                      \
  const ELEM *input, ELEM *output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,     \
      const rc_u64 *heap_bases, const int *group_ranks, int rank, int group_rank, int group_size
