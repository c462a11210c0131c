// All-reduce in two steps: a tile's owner reads it from all ranks, beginning with group rank
// `block % group_size`, and stores the result into everybody's output. Nobody else touches the
// tile, so nothing waits inside, and input and output may be the same.
#include "rc_reduce.h"

__device__ __forceinline__ void reduce_tile(RC_TILE_PARAMETERS, int number) {
  RC_TILE_GROUP;
  const rc_tile tile(number, m, n, tile_m, tile_n);
  for (int i = threadIdx.x; i < tile.elements(); i += blockDim.x) {
    const int row = tile.row(i), column = tile.column(i);
    const int first = blockIdx.x % group_size;
    const ELEM sum = ELEM(rc_pull<ACC>(input + row * input_stride + column, group, first, op));
    ELEM* mine = output + row * output_stride + column;
    for (int peer = 0; peer < group_size; peer++) *group.at(mine, peer) = sum;
  }
  RC_STEP();
}

#define ARGUMENTS                                                                                    \
  input, output, m, n, input_stride, output_stride, heap_bases, group_ranks, scalars, rank, group_rank, \
      group_size, tile_m, tile_n, op

// Tiles 0, 1, .. belong to group ranks 0, 1, .. in turn.
RC_KERNEL all_reduce_two_shot_stripe(RC_TILE_PARAMETERS) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  const int tiles = rc_tiles(m, n, tile_m, tile_n);
  for (int own = blockIdx.x; own * group_size + group_rank < tiles; own += gridDim.x)
    reduce_tile(ARGUMENTS, own * group_size + group_rank);
}

// Every rank owns a block of tiles that follow each other.
RC_KERNEL all_reduce_two_shot_block(RC_TILE_PARAMETERS) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  const int tiles = rc_tiles(m, n, tile_m, tile_n), share = (tiles + group_size - 1) / group_size;
  const int first = group_rank * share, end = first + share < tiles ? first + share : tiles;
  for (int number = first + blockIdx.x; number < end; number += gridDim.x) reduce_tile(ARGUMENTS, number);
}
