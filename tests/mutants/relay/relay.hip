// Reductions and a broadcast in which ranks wait for each other, one block a rank unless said
// otherwise. Flags carry ticks that grow over rounds and calls.
#include "rc_reduce.h"

#define PARAMETERS                                                                                 \
  const ELEM *input, ELEM *output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,        \
      const rc_u64 *bases, const int *ranks, int rank, int group_rank, int group_size, int root,   \
      ELEM *staging, rc_u32 *flags, rc_u32 epoch

__device__ __forceinline__ void wait_for(const rc_u32* flag, rc_u32 tick) {
  while ((int)(rc_load_acquire_system(flag) - tick) < 0) rc_spin_hint();
}

// Everybody tells everybody, and waits for everybody.
__device__ __forceinline__ void meet(const rc_u64* bases, const int* ranks, int rank, int group_rank, int group_size,
                                     rc_u32* flags, rc_u32 tick) {
  __syncthreads();
  const int peer = threadIdx.x;
  if (peer < group_size) {
    rc_store_release_system(rc_peer(flags + group_rank, bases, rank, ranks[peer]), tick);
    wait_for(flags + peer, tick);
  }
  __syncthreads();
}
#define MEET(tick) meet(bases, ranks, rank, group_rank, group_size, flags, tick)
#define EACH(row, column)                  \
  for (int row = 0; row < m; row++)        \
    for (int column = threadIdx.x; column < n; column += blockDim.x)

// Everybody's elements travel once around the ring; slot s holds what arrived in step s.
RC_KERNEL relay_ring(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
  const int next = (group_rank + 1) % group_size;
  if (group_size == 1) EACH(row, column) output[row * output_stride + column] = input[row * input_stride + column];
  for (int step = 0; step + 1 < group_size; step++) {
    ELEM* slot = staging + (rc_i64)step * m * n;
    EACH(row, column) {
      ELEM passed = step == 0 ? input[row * input_stride + column] : (slot - m * n)[row * n + column];
#if defined(FORWARDS_SUMS)
      if (step > 0) passed = output[row * output_stride + column];
#endif
      *rc_peer(slot + row * n + column, bases, rank, ranks[next]) = passed;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      rc_store_release_system(rc_peer(flags + step, bases, rank, ranks[next]), epoch + 1);
      wait_for(flags + step, epoch + 1);
    }
    __syncthreads();
    EACH(row, column) {
      const ELEM own = step == 0 ? input[row * input_stride + column] : output[row * output_stride + column];
      output[row * output_stride + column] = own + slot[row * n + column];
    }
    __syncthreads();
  }
}

// Rows go through one staging row: a rank stages its own, and reads everybody's once all are there.
RC_KERNEL relay_staged(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
  for (int row = 0; row < m; row++) {
    const rc_u32 tick = epoch * 1024u + 2 * row;
    for (int column = threadIdx.x; column < n; column += blockDim.x)
      staging[column] = input[row * input_stride + column];
    MEET(tick + 1);
    for (int column = threadIdx.x; column < n; column += blockDim.x) {
      ELEM sum = *rc_peer(staging + column, bases, rank, ranks[0]);
      for (int peer = 1; peer < group_size; peer++) sum = sum + *rc_peer(staging + column, bases, rank, ranks[peer]);
      output[row * output_stride + column] = sum;
    }
#if !defined(NO_END_BARRIER)
    MEET(tick + 2);
#endif
  }
}

// Everybody adds to everybody's output, which its owner has zeroed.
RC_KERNEL relay_atomic(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
#if !defined(NOT_ZEROED)
  EACH(row, column) output[row * output_stride + column] = ELEM(0);
#endif
#if !defined(ADDS_EARLY)
  MEET(epoch + 1);
#endif
  EACH(row, column) {
    const ELEM value = input[row * input_stride + column];
    for (int peer = 0; peer < group_size; peer++) {
      ELEM* target = rc_peer(output + row * output_stride + column, bases, rank, ranks[peer]);
#if defined(NOT_ATOMIC)
      *target = *target + value;
#else
      atomicAdd_system(target, value);
#endif
    }
  }
}

// Of the first member, block 0 reduces into its own output and block 1 sends that to the others.
RC_KERNEL relay_forward(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
  if (group_rank != 0) return;
  if (blockIdx.x == 0) {
    EACH(row, column) {
      const ELEM* mine = input + row * input_stride + column;
      ELEM sum = *mine;
      for (int peer = 1; peer < group_size; peer++) sum = sum + *rc_peer(mine, bases, rank, ranks[peer]);
      output[row * output_stride + column] = sum;
    }
    __syncthreads();
#if defined(RELAXED_FLAG)
    if (threadIdx.x == 0) rc_store_relaxed_system(flags, epoch + 1);
#else
    if (threadIdx.x == 0) rc_store_release_system(flags, epoch + 1);
#endif
  } else {
    if (threadIdx.x == 0) wait_for(flags, epoch + 1);
    __syncthreads();
    for (int peer = 1; peer < group_size; peer++)
      EACH(row, column) {
        ELEM* mine = output + row * output_stride + column;
        *rc_peer(mine, bases, rank, ranks[peer]) = *mine;
      }
  }
}

// From the root around the ring.
RC_KERNEL relay_broadcast(PARAMETERS) {
  RC_RECORD_LAUNCH(1, 16, group_size);
  const int next = (group_rank + 1) % group_size;
  if (group_rank == root) {
    EACH(row, column) output[row * output_stride + column] = input[row * input_stride + column];
  } else {
#if !defined(PASSES_ON_EARLY)
    if (threadIdx.x == 0) wait_for(flags, epoch + 1);
#endif
  }
  __syncthreads();
#if defined(ENDS_AT_LAST_MEMBER)
  if (next == 0) return;
#else
  if (next == root) return;
#endif
  EACH(row, column) {
    ELEM* mine = output + row * output_stride + column;
    *rc_peer(mine, bases, rank, ranks[next]) = *mine;
  }
  __syncthreads();
  if (threadIdx.x == 0) rc_store_release_system(rc_peer(flags, bases, rank, ranks[next]), epoch + 1);
}
