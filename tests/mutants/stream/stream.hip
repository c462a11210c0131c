// All-gathers whose calls follow each other as on a stream: a rank's next call begins when its own call has
// ended, whatever its peers do. Each switch takes away what makes that right.
#include "rc_meet.h"

#define PARAMETERS                                                                              \
  const ELEM *input, ELEM *output, int m, int n, rc_i64 input_stride, rc_i64 output_stride,     \
      const rc_u64 *heap_bases, const int *group_ranks, int rank, int group_rank, int group_size, \
      rc_u32 *begun, rc_u32 *finished, rc_u32 *inbox, rc_u32 epoch
#define AT(pointer, peer) rc_peer(pointer, heap_bases, rank, group_ranks[peer])
#define MEET(gate) rc_meet(gate, heap_bases, group_ranks, rank, group_rank, group_size, epoch)

// Reads every peer's input. Its call must have begun, and must not end before the reading is done.
RC_KERNEL pulls(PARAMETERS) {
#ifndef NO_ENTRY
  MEET(begun);
#endif
  for (int peer = 0; peer < group_size; peer++)
    for (int row = blockIdx.x; row < m; row += gridDim.x)
      for (int column = threadIdx.x; column < n; column += blockDim.x)
        output[((rc_i64)peer * m + row) * output_stride + column] = AT(input, peer)[row * input_stride + column];
#ifndef NO_EXIT
  MEET(finished);
#endif
}

// Writes every peer's output. Its call must have begun, and must not end before the rows are there.
RC_KERNEL pushes(PARAMETERS) {
#ifndef NO_ENTRY
  MEET(begun);
#endif
  for (int peer = 0; peer < group_size; peer++)
    for (int row = blockIdx.x; row < m; row += gridDim.x)
      for (int column = threadIdx.x; column < n; column += blockDim.x)
        AT(output, peer)[((rc_i64)group_rank * m + row) * output_stride + column] = input[row * input_stride + column];
#ifndef NO_EXIT
  MEET(finished);
#endif
}

// Sends each element as one word with the number of its call, into one of two sets of slots by turns: a peer that
// is a call ahead does not write where this call is still read. Every rank writes its own output only.
RC_KERNEL sends(PARAMETERS) {
#ifdef ONE_SET
  rc_u32* set = inbox;
#else
  rc_u32* set = inbox + (epoch & 1) * (rc_i64)group_size * m * n;
#endif
  const int elements = m * n;
  const rc_u32 tag = (epoch + 1) & 0xffff;
  for (int i = threadIdx.x; i < elements; i += blockDim.x)
    for (int peer = 0; peer < group_size; peer++) {
      const rc_u32 word = tag << 16 | input[(i / n) * input_stride + i % n];
      rc_store_relaxed_system(AT(set + (rc_i64)group_rank * elements + i, peer), word);
    }
  for (int i = threadIdx.x; i < elements; i += blockDim.x)
    for (int peer = 0; peer < group_size; peer++) {
      rc_u32* slot = set + (rc_i64)peer * elements + i;
      rc_u32 word;
      while ((word = rc_load_relaxed_system(slot)) >> 16 != tag) rc_spin_hint();
      output[((rc_i64)peer * m + i / n) * output_stride + i % n] = ELEM(word);
    }
}

// The same without numbers: a slot that is not zero has its element (one is added to it). Of three sets, this call
// uses one; the set of the call before is zeroed for the call after the next.
RC_KERNEL clears(PARAMETERS) {
  const int elements = m * n;
  const rc_i64 all = (rc_i64)group_size * elements;
  rc_u32* set = inbox + epoch % 3 * all;
#ifdef CLEARS_EARLY
  rc_u32* unused = inbox + (epoch + 1) % 3 * all;
#else
  rc_u32* unused = inbox + (epoch + 2) % 3 * all;
#endif
  for (int i = threadIdx.x; i < elements; i += blockDim.x)
    for (int peer = 0; peer < group_size; peer++) {
      const rc_u32 word = (rc_u32)input[(i / n) * input_stride + i % n] + 1;
      rc_store_release_system(AT(set + (rc_i64)group_rank * elements + i, peer), word);
    }
  for (int i = threadIdx.x; i < elements; i += blockDim.x)
    for (int peer = 0; peer < group_size; peer++) {
      rc_u32* slot = set + (rc_i64)peer * elements + i;
      rc_u32 word;
      while ((word = rc_load_acquire_system(slot)) == 0) rc_spin_hint();
      output[((rc_i64)peer * m + i / n) * output_stride + i % n] = ELEM(word - 1);
      rc_store_relaxed_system(unused + (rc_i64)peer * elements + i, 0u);
    }
}
