// Reduce-scatter of rows: input (W*m, n); group rank g reads its rows g*m.. from all ranks and
// writes their reduction, beginning with its own element.
#include "rc_reduce.h"

RC_KERNEL reduce_scatter_rows(RC_TILE_PARAMETERS) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  RC_TILE_GROUP;
  const ELEM* part = input + (rc_i64)group_rank * m * input_stride;
  for (int number = blockIdx.x; number < rc_tiles(m, n, tile_m, tile_n); number += gridDim.x) {
    const rc_tile tile(number, m, n, tile_m, tile_n);
    for (int i = threadIdx.x; i < tile.elements(); i += blockDim.x) {
      const int row = tile.row(i), column = tile.column(i);
      const ACC sum = rc_pull<ACC>(part + row * input_stride + column, group, group_rank, op);
      output[row * output_stride + column] = ELEM(sum);
    }
    RC_STEP();
  }
}
