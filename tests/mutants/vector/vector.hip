// Push all-gathers that move sixteen bytes at once where they may.
#include "rankcheck.h"

#define VEC (int(16 / sizeof(ELEM)))

#if defined(OVER_WIDE_STORE)
#define WIDTH(left) VEC
#else
#define WIDTH(left) ((left) < VEC ? (left) : VEC)
#endif

#if defined(SIZE_IN_PLACE_OF_ALIGNMENT)
#define ALIGNED(source, mine) (n % VEC == 0)
#elif defined(BASES_ALIGNED)
#define ALIGNED(source, mine) ((((rc_u64)input | (rc_u64)output) & 15) == 0)
#elif defined(SOURCE_ALIGNED)
#define ALIGNED(source, mine) (((rc_u64)(source) & 15) == 0)
#else
#define ALIGNED(source, mine) ((((rc_u64)(source) | (rc_u64)(mine)) & 15) == 0)
#endif

RC_KERNEL vector(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
                 const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int column = threadIdx.x * VEC; column < n; column += blockDim.x * VEC) {
      const int width = WIDTH(n - column);
      const ELEM* source = input + row * input_stride + column;
      ELEM* mine = output + ((rc_i64)group_rank * m + row) * output_stride + column;
      for (int peer = 0; peer < group_size; peer++) {
        ELEM* theirs = rc_peer(mine, bases, rank, ranks[peer]);
        if (width == VEC && ALIGNED(source, mine))
          *(rc_vec16*)theirs = *(const rc_vec16*)source;
        else
          for (int j = 0; j < width; j++) theirs[j] = source[j];
      }
    }
}

#if defined(TAIL_AS_FULL_BLOCK)
#define LENGTH(left) BLOCK
#else
#define LENGTH(left) ((left) < BLOCK ? (left) : BLOCK)
#endif
#define BLOCK 128

// Whole shards as bytes, in blocks of 128; for rows without padding.
RC_KERNEL flat(const ELEM* input, ELEM* output, int m, int n, rc_i64, rc_i64, const rc_u64* bases, const int* ranks,
               int rank, int group_rank, int group_size) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  const rc_i64 bytes = (rc_i64)m * n * sizeof(ELEM);
  for (rc_i64 start = (rc_i64)blockIdx.x * BLOCK; start < bytes; start += (rc_i64)gridDim.x * BLOCK) {
    const rc_i64 length = LENGTH(bytes - start);
    for (rc_i64 byte = threadIdx.x; byte < length; byte += blockDim.x)
      for (int peer = 0; peer < group_size; peer++) {
        rc_u8* mine = (rc_u8*)output + group_rank * bytes + start + byte;
        *rc_peer(mine, bases, rank, ranks[peer]) = ((const rc_u8*)input)[start + byte];
      }
  }
}

#if defined(PAIRS_BY_SIZE)
#define WHOLE_WORDS(mine) (n * sizeof(ELEM) % 8 == 0)
#else
#define WHOLE_WORDS(mine) (n * sizeof(ELEM) % 8 == 0 && (rc_u64)(mine) % 8 == 0 && (rc_u64)source % 8 == 0)
#endif

// Words of eight bytes where rows are such.
RC_KERNEL pairs(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
                const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size) {
  RC_RECORD_LAUNCH(1, 64, group_size);
  for (int row = blockIdx.x; row < m; row += gridDim.x)
    for (int peer = 0; peer < group_size; peer++) {
      const ELEM* source = input + row * input_stride;
      ELEM* theirs = rc_peer(output + ((rc_i64)group_rank * m + row) * output_stride, bases, rank, ranks[peer]);
      if (WHOLE_WORDS(theirs))
        for (int word = threadIdx.x; word < int(n * sizeof(ELEM) / 8); word += blockDim.x)
          ((rc_u64*)theirs)[word] = ((const rc_u64*)source)[word];
      else
        for (int column = threadIdx.x; column < n; column += blockDim.x) theirs[column] = source[column];
    }
}
