// All-reduce in one step: every rank reads each element from all ranks and writes its own output.
// Nothing waits inside: all inputs must be there when it starts.
#include "rc_reduce.h"

RC_KERNEL all_reduce_one_shot(RC_TILE_PARAMETERS) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
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

// The same, but every rank begins with its own element: the ranks' results may differ in rounding.
RC_KERNEL all_reduce_one_shot_own_first(RC_TILE_PARAMETERS) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  RC_TILE_GROUP;
  for (int number = blockIdx.x; number < rc_tiles(m, n, tile_m, tile_n); number += gridDim.x) {
    const rc_tile tile(number, m, n, tile_m, tile_n);
    for (int i = threadIdx.x; i < tile.elements(); i += blockDim.x) {
      const int row = tile.row(i), column = tile.column(i);
      const ACC sum = rc_pull<ACC>(input + row * input_stride + column, group, group_rank, op);
      output[row * output_stride + column] = ELEM(sum);
    }
    RC_STEP();
  }
}
