// Reduce-scatter of tiles: input and output (m, n); a rank writes the reduction of the tiles that
// it owns, in place, and leaves the rest of its output alone.
#include "rc_reduce.h"

RC_KERNEL reduce_scatter_tiles(RC_TILE_PARAMETERS) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  RC_TILE_GROUP;
  for (int number = blockIdx.x; number < rc_tiles(m, n, tile_m, tile_n); number += gridDim.x) {
    if (number % group_size != group_rank) continue;
    const rc_tile tile(number, m, n, tile_m, tile_n);
    for (int i = threadIdx.x; i < tile.elements(); i += blockDim.x) {
      const int row = tile.row(i), column = tile.column(i);
      const ACC sum = rc_pull<ACC>(input + row * input_stride + column, group, 0, op);
      output[row * output_stride + column] = ELEM(sum);
    }
    RC_STEP();
  }
}
