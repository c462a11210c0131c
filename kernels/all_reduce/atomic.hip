// All-reduce by atomics: every rank adds its elements into everybody's output, in whatever order
// they arrive. The outputs must be zero on all ranks before anybody starts (the manifest's steps).
#include "rc_reduce.h"

RC_KERNEL all_reduce_atomic(RC_TILE_PARAMETERS) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  RC_TILE_GROUP;
  for (int number = blockIdx.x; number < rc_tiles(m, n, tile_m, tile_n); number += gridDim.x) {
    const rc_tile tile(number, m, n, tile_m, tile_n);
    for (int i = threadIdx.x; i < tile.elements(); i += blockDim.x) {
      const int row = tile.row(i), column = tile.column(i);
      const ELEM value = input[row * input_stride + column];
      ELEM* mine = output + row * output_stride + column;
      for (int step = 0; step < group_size; step++)
        atomicAdd_system(group.at(mine, (group_rank + step) % group_size), value);
    }
    RC_STEP();
  }
}
