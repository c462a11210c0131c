// A one-shot all-reduce in the style of vLLM's custom_all_reduce.cuh: a table of the ranks' inputs
// in device memory, the addresses of the signal pads by value, a barrier per block before and after.
// Knows nothing of this harness.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kMaxBlocks = 36;
using FlagType = uint32_t;
struct Signal {
  alignas(128) FlagType start[kMaxBlocks][8];
  alignas(128) FlagType end[kMaxBlocks][8];
  alignas(128) FlagType _flag[kMaxBlocks];  // incremental flags for each block
};
struct __align__(16) RankData {
  const void* ptrs[8];
};
struct __align__(16) RankSignals {
  Signal* signals[8];
};

template <typename T, int sz>
struct __align__(alignof(T) * sz) array_t {
  T data[sz];
};

__device__ __forceinline__ float upcast_s(half val) { return __half2float(val); }
__device__ __forceinline__ float upcast_s(nv_bfloat16 val) { return __bfloat162float(val); }
__device__ __forceinline__ float upcast_s(float val) { return val; }
template <typename T>
__device__ __forceinline__ T downcast_s(float val);
template <>
__device__ __forceinline__ half downcast_s(float val) { return __float2half(val); }
template <>
__device__ __forceinline__ nv_bfloat16 downcast_s(float val) { return __float2bfloat16(val); }
template <>
__device__ __forceinline__ float downcast_s(float val) { return val; }

static __device__ __forceinline__ void st_flag_release(FlagType* flag_addr, FlagType flag) {
  __threadfence_system();
  *(volatile FlagType*)flag_addr = flag;
}
static __device__ __forceinline__ FlagType ld_flag_acquire(FlagType* flag_addr) {
  const FlagType flag = *(volatile FlagType*)flag_addr;
  __threadfence_system();
  return flag;
}

template <int ngpus, bool is_start>
__device__ __forceinline__ void multi_gpu_barrier(const RankSignals& sg, Signal* self_sg, int rank) {
  if (!is_start) __syncthreads();
  const FlagType val = self_sg->_flag[blockIdx.x] + 1;
  __syncthreads();
  if (threadIdx.x < ngpus) {
    Signal* peer = sg.signals[threadIdx.x];
    FlagType* theirs = is_start ? &peer->start[blockIdx.x][rank] : &peer->end[blockIdx.x][rank];
    FlagType* ours = is_start ? &self_sg->start[blockIdx.x][threadIdx.x] : &self_sg->end[blockIdx.x][threadIdx.x];
    st_flag_release(theirs, val);
    while (ld_flag_acquire(ours) != val);
  }
  __syncthreads();
  if (threadIdx.x == 0) self_sg->_flag[blockIdx.x] = val;
  if (is_start) __syncthreads();
}

template <typename T, int ngpus>
__global__ void __launch_bounds__(512, 1)
cross_device_reduce_1stage(RankData* _dp, RankSignals sg, Signal* self_sg, T* __restrict__ result, int rank, int size) {
  using P = array_t<T, 16 / sizeof(T)>;
  constexpr int pack = 16 / sizeof(T);
  const RankData dp = *_dp;
  multi_gpu_barrier<ngpus, true>(sg, self_sg, rank);
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < size; idx += gridDim.x * blockDim.x) {
    float acc[pack];
    const P first = ((const P*)dp.ptrs[0])[idx];
#pragma unroll
    for (int j = 0; j < pack; j++) acc[j] = upcast_s(first.data[j]);
#pragma unroll
    for (int i = 1; i < ngpus; i++) {
      const P next = ((const P*)dp.ptrs[i])[idx];
#pragma unroll
      for (int j = 0; j < pack; j++) acc[j] += upcast_s(next.data[j]);
    }
    P packed;
#pragma unroll
    for (int j = 0; j < pack; j++) packed.data[j] = downcast_s<T>(acc[j]);
    ((P*)result)[idx] = packed;
  }
  multi_gpu_barrier<ngpus, false>(sg, self_sg, rank);
}
