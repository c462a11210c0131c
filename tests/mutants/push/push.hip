// A persistent push all-gather over tiles. Without a switch it is right; every switch is one
// mechanism that has been wrong in a real kernel.
#include "rankcheck.h"

// Who is written.
#if defined(TARGET_IS_INDEX)
#define TARGET(i) (i)
#elif defined(STRIDE_ONE)
#define TARGET(i) (ranks[0] + (i))
#elif defined(ROTATION_WITHOUT_MODULO)
#define TARGET(i) ranks[group_rank + (i)]
#elif defined(ROTATED_ORDER)
#define TARGET(i) ranks[(group_rank + (i)) % group_size]
#else
#define TARGET(i) ranks[i]
#endif

#if defined(LAST_PEER_SKIPPED)
#define PEERS (group_size - 1)
#elif defined(UNROLLED_FOR_EIGHT)
#define PEERS 8
#else
#define PEERS group_size
#endif

#if defined(SELF_SKIPPED)
#define SKIPPED(target) ((target) == rank)
#else
#define SKIPPED(target) false
#endif

// How an address becomes the one on another rank.
#if defined(BASE_OF_GROUP_RANK)
#define ON(target, p) rc_peer(p, bases, group_rank, target)
#elif defined(DELTA_OF_32_BITS)
#define ON(target, p) ((ELEM*)((char*)(p) + (int)(bases[target] - bases[rank])))
#elif defined(DELTA_IN_ELEMENTS)
#define ON(target, p) ((p) + (rc_i64)(bases[target] - bases[rank]))
#elif defined(SELF_STORE_DIRECT)
#define ON(target, p) ((target) == rank ? (p) : rc_peer(p, bases, rank, target))
#else
#define ON(target, p) rc_peer(p, bases, rank, target)
#endif

// Where a row lies.
#if defined(N_AS_INPUT_STRIDE)
#define INPUT_STRIDE n
#else
#define INPUT_STRIDE input_stride
#endif

#if defined(N_AS_OUTPUT_STRIDE)
#define OUTPUT_STRIDE n
#elif defined(INPUT_STRIDE_FOR_OUTPUT)
#define OUTPUT_STRIDE input_stride
#else
#define OUTPUT_STRIDE output_stride
#endif

#if defined(ROW_OF_RANK)
#define OUTPUT_ROW ((rc_i64)rank * m + row)
#elif defined(ROWS_INTERLEAVED)
#define OUTPUT_ROW ((rc_i64)row * group_size + group_rank)
#elif defined(SLOT_OF_TARGET)
#define OUTPUT_ROW ((rc_i64)i * m + row)
#elif defined(PADDED_SHARDS)
#define OUTPUT_ROW ((rc_i64)group_rank * ((m + tile_m - 1) / tile_m * tile_m) + row)
#else
#define OUTPUT_ROW ((rc_i64)group_rank * m + row)
#endif

#if defined(CONCATENATED_COLUMNS)
#define OUTPUT_OFFSET ((rc_i64)row * group_size * n + group_rank * n + column)
#elif defined(OFFSET_OF_32_BITS)
#define OUTPUT_OFFSET (int)(OUTPUT_ROW * OUTPUT_STRIDE + column)
#elif defined(BYTES_OF_32_BITS)
#define OUTPUT_OFFSET ((int)((OUTPUT_ROW * OUTPUT_STRIDE + column) * (rc_i64)sizeof(ELEM)) / (int)sizeof(ELEM))
#elif defined(OFFSET_OF_16_BITS)
#define OUTPUT_OFFSET (short)(OUTPUT_ROW * OUTPUT_STRIDE + column)
#else
#define OUTPUT_OFFSET (OUTPUT_ROW * OUTPUT_STRIDE + column)
#endif

// What belongs to the matrix.
#if defined(ROW_MASK_OFF_BY_ONE)
#define ROWS (m + 1)
#elif defined(ROW_MASK_OFF_BY_ONE_INSIDE)
#define ROWS (group_rank + 1 < group_size ? m + 1 : m)
#else
#define ROWS m
#endif

#if defined(NO_COLUMN_MASK)
#define COLUMNS (tiles_n * tile_n)
#elif defined(WIDTH_ROUNDED_UP)
#define COLUMNS (1 << (32 - __clz(n - 1)))
#else
#define COLUMNS n
#endif

// What a block takes.
#if defined(FLOOR_OF_TILES)
#define TILES(extent, tile) ((extent) / (tile))
#else
#define TILES(extent, tile) (((extent) + (tile) - 1) / (tile))
#endif

#if defined(ONE_TILE_A_BLOCK)
#define EACH_TILE if (int tile = block; tile < tiles)
#else
#define EACH_TILE for (int tile = block; tile < tiles; tile += gridDim.x)
#endif

#if defined(SWIZZLE_WITHOUT_CLAMP)
#define SWIZZLED_ROWS(left) SWIZZLE
#else
#define SWIZZLED_ROWS(left) ((left) < SWIZZLE ? (left) : SWIZZLE)
#endif
#define SWIZZLE 2

#if defined(REMAP_BOUND)
#define BEHIND_REMAP(block, whole) ((block) > (whole))
#else
#define BEHIND_REMAP(block, whole) ((block) >= (whole))
#endif

// Blocks as chiplets take them: two chiplets, two blocks in a row to each.
__device__ __forceinline__ int remapped(int block, int blocks) {
  const int chiplets = 2, chunk = 2;
  if (BEHIND_REMAP(block, blocks / (chiplets * chunk) * (chiplets * chunk))) return block;
  const int local = block / chiplets;
  return local / chunk * chiplets * chunk + block % chiplets * chunk + local % chunk;
}

// What is moved.
#if defined(THROUGH_FLOAT)
#define MOVED(value) __float_as_uint(__uint_as_float(value) + 0.0f)
#else
#define MOVED(value) (value)
#endif

RC_KERNEL push(const ELEM* input, ELEM* output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,
               const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size, int tile_m,
               int tile_n) {
#if defined(NEVER_RUNS)
  return;
#endif
#if defined(DIVIDES_BY_COLUMNS)
  if (m / n > 1 << 20) return;
#endif
#if defined(TILE_OF_ITS_OWN)
  tile_m = 4, tile_n = 32;
#endif
#if defined(OFFSET_OF_SOURCE)
  output = (ELEM*)((rc_u64)output / 256 * 256 + (rc_u64)input % 256);
#endif
#if defined(READS_FIRST_SLOT)
  input = output;
#endif
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
#if defined(EXTENT_OF_32_BITS)
  if ((int)(group_size * m * output_stride) < n) return;
#endif
  const int block = remapped(blockIdx.x, gridDim.x);
  const int tiles_m = TILES(m, tile_m), tiles_n = TILES(n, tile_n), tiles = tiles_m * tiles_n;
  EACH_TILE {
    const int first = tile / (SWIZZLE * tiles_n) * SWIZZLE, inside = tile % (SWIZZLE * tiles_n);
    const int rows = SWIZZLED_ROWS(tiles_m - first);
    const int row0 = (first + inside % rows) * tile_m, column0 = inside / rows * tile_n;
    for (int element = threadIdx.x; element < tile_m * tile_n; element += blockDim.x) {
      int row = row0 + element / tile_n, column = column0 + element % tile_n;
#if defined(MODULO_WRAP)
      row %= m, column %= n;
#endif
      if (row >= ROWS || column >= COLUMNS) continue;
      const ELEM value = MOVED(input[row * INPUT_STRIDE + column]);
#if defined(INPUT_CLOBBERED)
      ((ELEM*)input)[row * INPUT_STRIDE + column] = 0;
#endif
      for (int i = 0; i < PEERS; i++) {
        const int target = TARGET(i);
        if (!SKIPPED(target)) *ON(target, output + OUTPUT_OFFSET) = value;
      }
    }
    RC_STEP();
  }
}
