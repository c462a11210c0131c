// All-reduce around a ring: a tile's partial result starts at its owner's successor, passes every
// rank once, each adding its own elements, and ends at the owner, who stores it into everybody's
// output. Partial results travel in the element type.
//
// partial[] of a rank is written by its predecessor only, a tile at a time; arrived[tile] says so
// with an epoch that grows over calls, so that nothing is ever reset. Nobody stores into a rank whose call
// has not begun, and no rank returns before its whole output is there.
#include "rc_meet.h"
#include "rc_reduce.h"

RC_KERNEL all_reduce_ring(RC_TILE_PARAMETERS, ELEM* partial, rc_u32* arrived, rc_u32* begun, rc_u32* finished,
                          rc_u32 epoch) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  RC_TILE_GROUP;
  rc_meet(begun, heap_bases, group_ranks, rank, group_rank, group_size, epoch);
  const int next = (group_rank + 1) % group_size;
  for (int number = blockIdx.x; number < rc_tiles(m, n, tile_m, tile_n); number += gridDim.x) {
    const rc_tile tile(number, m, n, tile_m, tile_n);
    const int owner = number % group_size;
    const bool begins = group_rank == (owner + 1) % group_size, ends = group_rank == owner;
    if (!begins) {
      if (threadIdx.x == 0)
        while (rc_load_acquire_system(arrived + number) != epoch + 1) rc_spin_hint();
      __syncthreads();
    }
    for (int i = threadIdx.x; i < tile.elements(); i += blockDim.x) {
      const int row = tile.row(i), column = tile.column(i);
      const rc_i64 packed = (rc_i64)row * n + column;
      ELEM sum = ELEM(rc_operand<ACC>(op, input[row * input_stride + column], scalars[group_rank]));
      if (!begins) sum = ELEM(rc_combine<ACC>(op, ACC(partial[packed]), ACC(sum)));
      if (!ends) {
        *group.at(partial + packed, next) = sum;
        continue;
      }
      sum = ELEM(rc_result<ACC>(op, ACC(sum), group_size));
      ELEM* mine = output + row * output_stride + column;
      for (int peer = 0; peer < group_size; peer++) *group.at(mine, peer) = sum;
    }
    if (!ends) {
      __syncthreads();
      if (threadIdx.x == 0) rc_store_release_system(group.at(arrived + number, next), epoch + 1);
    }
  }
  rc_meet(finished, heap_bases, group_ranks, rank, group_rank, group_size, epoch);
}
