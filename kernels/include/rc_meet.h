// Gates for kernels whose calls may overlap. On a stream a rank's next call begins when its own call has
// ended, whatever its peers do: so who writes into a peer's heap first waits until that peer's call has
// begun, and who lets peers touch its own heap waits, before it returns, until they are done.
#pragma once
#include "rankcheck.h"

// The blocks of one number of all ranks in the group meet: none goes on before all have come.
//
// gate[b * group_size + r] on a rank says, by the epoch of its call, that block b of group rank r has come. Nothing
// is ever reset; a peer may be one call ahead by the time that its flag is looked at.
__device__ __forceinline__ void rc_meet(rc_u32* gate, const rc_u64* heap_bases, const int* group_ranks, int rank,
                                        int group_rank, int group_size, rc_u32 epoch) {
  __syncthreads();
  rc_u32* flags = gate + blockIdx.x * group_size;
  for (int peer = threadIdx.x; peer < group_size; peer += blockDim.x) {
    rc_store_release_system(rc_peer(flags + group_rank, heap_bases, rank, group_ranks[peer]), epoch + 1);
    while (rc_load_acquire_system(flags + peer) - (epoch + 1) > 1u) rc_spin_hint();
  }
  __syncthreads();
}
