// An all-gather in the style of MSCCL++: a channel a peer, a struct in device memory with a put, a
// signal and a wait. Knows nothing of this harness.
#include <cuda_runtime.h>

struct MemoryDevice2DeviceSemaphoreDeviceHandle {
  uint64_t* inboundToken;
  uint64_t* remoteInboundToken;
  uint64_t* expectedInboundToken;

  __device__ __forceinline__ void signal() {
    __threadfence_system();
    atomicAdd_system((unsigned long long*)remoteInboundToken, 1ull);
  }
  __device__ __forceinline__ void wait() {
    const uint64_t expected = ++*expectedInboundToken;
    while (*(volatile uint64_t*)inboundToken < expected) {
    }
    __threadfence_system();
  }
};

struct MemoryChannelDeviceHandle {
  MemoryDevice2DeviceSemaphoreDeviceHandle semaphore_;
  void* dst_;
  void* src_;

  template <typename T>
  __device__ __forceinline__ void put(uint64_t index, uint64_t count, uint32_t threadId, uint32_t numThreads) {
    for (uint64_t i = index + threadId; i < index + count; i += numThreads) ((T*)dst_)[i] = ((const T*)src_)[i];
  }
  __device__ __forceinline__ void signal() { semaphore_.signal(); }
  __device__ __forceinline__ void wait() { semaphore_.wait(); }
};

// One block; src_ and dst_ are this rank's part of its own and of the peer's output.
extern "C" __global__ void allgather_channels(MemoryChannelDeviceHandle* channels, const ELEM* input, ELEM* own,
                                              int nPeers, uint64_t count) {
  for (uint64_t i = threadIdx.x; i < count; i += blockDim.x) own[i] = input[i];
  __syncthreads();
  for (int peer = 0; peer < nPeers; peer++) {
    channels[peer].put<ELEM>(0, count, threadIdx.x, blockDim.x);
    __syncthreads();
    if (threadIdx.x == 0) channels[peer].signal();
  }
  if (threadIdx.x == 0)
    for (int peer = 0; peer < nPeers; peer++) channels[peer].wait();
}
