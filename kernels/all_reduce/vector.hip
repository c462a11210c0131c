// All-reduce in one step, sixteen bytes a thread: every rank reads a packet of elements from all
// ranks, combines them in ACC, and writes its own output. Rows whose ends or addresses do not allow
// a packet are handled element by element. Nothing waits inside.
#include "rc_reduce.h"

template <class T>
struct alignas(16) rc_packet {
  static constexpr int size = 16 / sizeof(T);
  T element[size];
};

RC_KERNEL all_reduce_vector(RC_TILE_PARAMETERS) {
  RC_RECORD_LAUNCH(tile_m, tile_n, group_size);
  RC_TILE_GROUP;
  typedef rc_packet<ELEM> packet;
  for (int row = blockIdx.x; row < m; row += gridDim.x) {
    const ELEM* source = input + row * input_stride;
    ELEM* target = output + row * output_stride;
    const bool aligned = (((rc_u64)source | (rc_u64)target) & 15) == 0;
    const int whole = aligned ? n / packet::size * packet::size : 0;
    for (int column = threadIdx.x * packet::size; column < whole; column += blockDim.x * packet::size) {
      ACC sum[packet::size];
      for (int peer = 0; peer < group_size; peer++) {
        const packet part = *group.at((const packet*)(source + column), peer);
        for (int i = 0; i < packet::size; i++) {
          const ACC value = rc_operand<ACC>(op, part.element[i], scalars[peer]);
          sum[i] = peer == 0 ? value : rc_combine<ACC>(op, sum[i], value);
        }
      }
      packet result;
      for (int i = 0; i < packet::size; i++) result.element[i] = ELEM(rc_result<ACC>(op, sum[i], group_size));
      *(packet*)(target + column) = result;
    }
    for (int column = whole + threadIdx.x; column < n; column += blockDim.x)
      target[column] = ELEM(rc_pull<ACC>(source + column, group, 0, op));
    RC_STEP();
  }
}
