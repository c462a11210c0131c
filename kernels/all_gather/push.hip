// Push all-gather: every rank loads each tile of its input once and stores it into the outputs of
// all ranks of its group, through translated heap addresses. Persistent over tiles.
//
// ELEM is the unsigned type of the element's size. TILE_M, TILE_N and GROUP_SIZE are compile-time
// where the manifest defines them (GPUs) and arguments otherwise (CPU): a run-time group size
// undoes what the hoisted variants are about, and a CPU gains nothing from a compile for each.
#include "rankcheck.h"

#ifdef TILE_M
#define tile_m TILE_M
#define tile_n TILE_N
#define group_size GROUP_SIZE
#define RC_UNUSED(name) unused_##name
#else
#define RC_UNUSED(name) name
#endif

#ifdef GROUP_SIZE
#define MAX_GROUP GROUP_SIZE
#else
#define MAX_GROUP 16
#endif

#define VEC (int(16 / sizeof(ELEM)))

// No `restrict` on the table: with it the compiler hoists the loads of the base variant by itself.
#define PARAMETERS                                                                               \
  const ELEM *input, ELEM *output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,      \
      const rc_u64 *heap_bases, const int *group_ranks, int rank, int group_rank,                \
      int RC_UNUSED(group_size), int RC_UNUSED(tile_m), int RC_UNUSED(tile_n)
#define ARGUMENTS                                                                                \
  input, output, m, n, input_stride, output_stride, heap_bases, group_ranks, rank, group_rank,   \
      RC_UNUSED(group_size), RC_UNUSED(tile_m), RC_UNUSED(tile_n)

// How a block's thread reaches peer number `peer` of the group: the address `mine` over there.
struct LoadEachTime {
  const rc_u64* heap_bases;
  const int* group_ranks;
  int rank;
  __device__ __forceinline__ ELEM* at(ELEM* mine, int peer) const {
    return rc_peer(mine, heap_bases, rank, group_ranks[peer]);
  }
};
struct Hoisted {
  rc_i64 delta[MAX_GROUP];
  __device__ __forceinline__ ELEM* at(ELEM* mine, int peer) const {
    return (ELEM*)((char*)mine + delta[peer]);
  }
};

// Stores `columns` (at most VEC) elements at `mine` into the peers `first`..`last`.
template <class Peers>
__device__ __forceinline__ void store(const ELEM* source, ELEM* mine, int columns, const Peers& peers, int first,
                                      int last) {
  if (columns == VEC && (((rc_u64)source | (rc_u64)mine) & 15) == 0) {
    const rc_vec16 value = *(const rc_vec16*)source;
    for (int peer = first; peer < last; peer++) *(rc_vec16*)peers.at(mine, peer) = value;
    return;
  }
  for (int j = 0; j < columns; j++) {
    const ELEM value = source[j];
    for (int peer = first; peer < last; peer++) peers.at(mine, peer)[j] = value;
  }
}

// The tiles `first_tile`, `first_tile + tile_step`, ... to the peers `first`..`last`, `width` peers
// at a time.
template <class Peers>
__device__ __forceinline__ void push_tiles(PARAMETERS, const Peers& peers, int first_tile, int tile_step, int first,
                                           int last, int width) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  const int tiles_n = (n + tile_n - 1) / tile_n, tiles = (m + tile_m - 1) / tile_m * tiles_n;
  const int groups_n = (tile_n + VEC - 1) / VEC, groups = tile_m * groups_n;
  for (int tile = first_tile; tile < tiles; tile += tile_step) {
    const int row0 = tile / tiles_n * tile_m, column0 = tile % tiles_n * tile_n;
    const int row_end = row0 + tile_m < m ? row0 + tile_m : m;
    const int column_end = column0 + tile_n < n ? column0 + tile_n : n;
    for (int group = threadIdx.x; group < groups; group += blockDim.x) {
      const int row = row0 + group / groups_n, column = column0 + group % groups_n * VEC;
      if (row >= row_end || column >= column_end) continue;
      const int columns = column + VEC <= column_end ? VEC : column_end - column;
      const ELEM* source = input + row * input_stride + column;
      ELEM* mine = output + ((rc_i64)group_rank * m + row) * output_stride + column;
      for (int peer = first; peer < last; peer += width)
        store(source, mine, columns, peers, peer, peer + width < last ? peer + width : last);
    }
    RC_STEP();
  }
}

__device__ __forceinline__ Hoisted hoist(const rc_u64* heap_bases, const int* group_ranks, int rank, int peers) {
  Hoisted hoisted;
  for (int peer = 0; peer < peers; peer++)
    hoisted.delta[peer] = (rc_i64)(heap_bases[group_ranks[peer]] - heap_bases[rank]);
  return hoisted;
}

// The peer's base is loaded for each peer and each store.
RC_KERNEL all_gather_push_base(PARAMETERS) {
  const LoadEachTime peers = {heap_bases, group_ranks, rank};
  push_tiles(ARGUMENTS, peers, blockIdx.x, gridDim.x, 0, group_size, MAX_GROUP);
}

// All translated bases before the tile loop.
RC_KERNEL all_gather_push_hoisted(PARAMETERS) {
  const Hoisted peers = hoist(heap_bases, group_ranks, rank, group_size);
  push_tiles(ARGUMENTS, peers, blockIdx.x, gridDim.x, 0, group_size, MAX_GROUP);
}

// Hoisted, but a few peers' stores at a time.
RC_KERNEL all_gather_push_grouped2(PARAMETERS) {
  const Hoisted peers = hoist(heap_bases, group_ranks, rank, group_size);
  push_tiles(ARGUMENTS, peers, blockIdx.x, gridDim.x, 0, group_size, 2);
}
RC_KERNEL all_gather_push_grouped4(PARAMETERS) {
  const Hoisted peers = hoist(heap_bases, group_ranks, rank, group_size);
  push_tiles(ARGUMENTS, peers, blockIdx.x, gridDim.x, 0, group_size, 4);
}
RC_KERNEL all_gather_push_grouped8(PARAMETERS) {
  const Hoisted peers = hoist(heap_bases, group_ranks, rank, group_size);
  push_tiles(ARGUMENTS, peers, blockIdx.x, gridDim.x, 0, group_size, 8);
}

// Blocks split by destination. The manifest requires that the group size divides the blocks.
RC_KERNEL all_gather_push_partitioned(PARAMETERS) {
  const LoadEachTime peers = {heap_bases, group_ranks, rank};
  const int blocks_a_peer = gridDim.x / group_size, peer = blockIdx.x / blocks_a_peer;
  push_tiles(ARGUMENTS, peers, blockIdx.x % blocks_a_peer, blocks_a_peer, peer, peer + 1, 1);
}

// The same for any number of blocks: the first `gridDim.x % group_size` peers get one more, and
// with fewer blocks than peers a block takes several peers in turn.
RC_KERNEL all_gather_push_partitioned_any(PARAMETERS) {
  const LoadEachTime peers = {heap_bases, group_ranks, rank};
  const int blocks = gridDim.x;
  for (int peer = blockIdx.x % group_size; peer < group_size; peer += blocks) {
    const int blocks_a_peer = blocks / group_size + (peer < blocks % group_size);
    const int step = blocks_a_peer > 0 ? blocks_a_peer : 1;
    push_tiles(ARGUMENTS, peers, blockIdx.x / group_size, step, peer, peer + 1, 1);
    if (blocks >= group_size) break;
  }
}
