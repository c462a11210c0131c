// Reduce to a root, which reads every element from all ranks.
#include "rc_reduce.h"

RC_KERNEL reduce_pull(RC_TILE_PARAMETERS, int root) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  if (group_rank != root) return;
  RC_TILE_GROUP;
  for (int number = blockIdx.x; number < rc_tiles(m, n, tile_m, tile_n); number += gridDim.x) {
    const rc_tile tile(number, m, n, tile_m, tile_n);
    for (int i = threadIdx.x; i < tile.elements(); i += blockDim.x) {
      const int row = tile.row(i), column = tile.column(i);
      const ACC sum = rc_pull<ACC>(input + row * input_stride + column, group, 0, op);
      output[row * output_stride + column] = ELEM(sum);
    }
    RC_STEP();
  }
}
