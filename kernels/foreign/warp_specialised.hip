// A sum to all ranks with specialised warps: in each block one warp loads a row of every rank into
// shared memory, the others wait for it at the block's barrier and reduce; the row's flag travels
// through shuffles. Knows nothing of this harness.
#include <hip/hip_runtime.h>

constexpr int kRow = 32;

extern "C" __global__ void warp_specialised_sum(const float* const* inputs, float* output, int rows, int n, int stride_in,
                                                int stride_out, int ranks) {
  __shared__ float staged[16][kRow];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int pieces = (n + kRow - 1) / kRow;
  for (int piece = blockIdx.x; piece < rows * pieces; piece += gridDim.x) {
    const int row = piece / pieces, column = piece % pieces * kRow + lane;
    if (warp == 0) {
      // Lane 0 finds the row's offset and tells the others.
      int offset = lane == 0 ? row * stride_in : -1;
      offset = __shfl_sync(0xffffffffu, offset, 0);
      for (int r = 0; r < ranks; r++) staged[r][lane] = column < n ? inputs[r][offset + column] : 0.0f;
      __syncwarp();
    }
    __syncthreads();
    if (warp == 1) {
      float sum = staged[0][lane];
      for (int r = 1; r < ranks; r++) sum += staged[r][lane];
      const unsigned inside = __ballot_sync(0xffffffffu, column < n);
      if (inside >> lane & 1) output[row * stride_out + column] = sum;
    }
    __syncthreads();
  }
}
