// An all-gather in the style of Iris' kernels: heap bases in a tensor, a group of start and stride,
// a persistent loop over tiles. Knows nothing of this harness.
#include <hip/hip_runtime.h>

template <typename T>
__device__ __forceinline__ T* translate(T* local, int from_rank, int to_rank, const uint64_t* heap_bases) {
  const uint64_t offset = reinterpret_cast<uint64_t>(local) - heap_bases[from_rank];
  return reinterpret_cast<T*>(heap_bases[to_rank] + offset);
}

template <typename T, int BLOCK_SIZE_M, int BLOCK_SIZE_N>
__device__ void persistent_all_gather(const T* input, T* output, int M, int N, int stride_in_m, int stride_in_n,
                                      int stride_out_m, int stride_out_n, const uint64_t* heap_bases,
                                      int group_rank, int iris_rank, int world_size, int rank_start,
                                      int rank_stride) {
  const int num_pid_m = (M + BLOCK_SIZE_M - 1) / BLOCK_SIZE_M;
  const int num_pid_n = (N + BLOCK_SIZE_N - 1) / BLOCK_SIZE_N;
  for (int tile_id = blockIdx.x; tile_id < num_pid_m * num_pid_n; tile_id += gridDim.x) {
    const int pid_m = tile_id / num_pid_n;
    const int pid_n = tile_id % num_pid_n;
    for (int i = threadIdx.x; i < BLOCK_SIZE_M * BLOCK_SIZE_N; i += blockDim.x) {
      const int rm = pid_m * BLOCK_SIZE_M + i / BLOCK_SIZE_N;
      const int rn = pid_n * BLOCK_SIZE_N + i % BLOCK_SIZE_N;
      if (rm >= M || rn >= N) continue;
      const T value = input[(int64_t)rm * stride_in_m + (int64_t)rn * stride_in_n];
      T* local = output + (int64_t)(group_rank * M + rm) * stride_out_m + (int64_t)rn * stride_out_n;
      for (int r = 0; r < world_size; r++) {
        const int target = rank_start + r * rank_stride;
        if (target == iris_rank)
          *local = value;
        else
          *translate(local, iris_rank, target, heap_bases) = value;
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
iris_all_gather(const ELEM* input, ELEM* output, int M, int N, int stride_in_m, int stride_in_n, int stride_out_m,
                int stride_out_n, const uint64_t* heap_bases, int group_rank, int iris_rank, int world_size,
                int rank_start, int rank_stride) {
  persistent_all_gather<ELEM, 8, 64>(input, output, M, N, stride_in_m, stride_in_n, stride_out_m, stride_out_n,
                                     heap_bases, group_rank, iris_rank, world_size, rank_start, rank_stride);
}
