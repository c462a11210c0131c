// rankcheck.h: what the vendors spell differently, once, for HIP, CUDA and the CPU.
//
//   RC_KERNEL                       extern "C" __global__ void
//   rc_peer(p, bases, from, to)     the address of `p`, a pointer into rank `from`'s heap, on `to`
//   rc_load_acquire_system(flag)    and _relaxed_; rc_store_release_system; rc_fetch_add_system
//   rc_fence_system()               orders everything before it against everything behind it
//   rc_spin_hint()                  inside every loop that waits for memory to change
//   RC_STEP()                       at the end of a tile: nothing on a GPU; on a CPU, where all ranks
//                                   run at once, a place to let other threads go on
//   RC_RECORD_LAUNCH(m, n, group)   says which tile and group size the kernel really used
#pragma once

typedef unsigned char rc_u8;
typedef signed char rc_i8;
typedef unsigned short rc_u16;
typedef unsigned int rc_u32;
typedef unsigned long long rc_u64;
typedef long long rc_i64;

#define RC_KERNEL extern "C" __global__ void

// Sixteen bytes, moved at once.
struct alignas(16) rc_vec16 {
  rc_u32 word[4];
};

// Heaps are symmetric: what lies at an offset of one lies at the same offset of all. In bytes,
// and by a difference: an integer cast would lose the address space and give flat accesses.
template <class T>
__device__ __forceinline__ T* rc_peer(T* mine, const rc_u64* bases, int from, int to) {
  return (T*)((char*)mine + (rc_i64)(bases[to] - bases[from]));
}

#if defined(RC_CPU)

#define RC_RECORD_LAUNCH(tile_m, tile_n, group_size)                                             \
  do {                                                                                           \
    if (threadIdx.x == 0 && blockIdx.x == 0)                                                     \
      rc_record = {1u, unsigned(tile_m), unsigned(tile_n), unsigned(group_size), gridDim.x, blockDim.x}; \
  } while (0)
extern "C" RC_HIDDEN rc_launch_record rc_record;

#define RC_STEP() rc_event_at(RC_TILE_STEP, RC_RELAXED, RC_BLOCK, 0, nullptr)
#define rc_spin_hint() rc_event_at(RC_SPIN, RC_RELAXED, RC_SYSTEM, 0, nullptr)
#define rc_fence_system() __threadfence_system()
#define rc_load_acquire_system(p) rc_atomic_load(p, RC_ACQUIRE, RC_SYSTEM)
#define rc_load_relaxed_system(p) rc_atomic_load(p, RC_RELAXED, RC_SYSTEM)
#define rc_store_release_system(p, v) rc_atomic_store<rc_u32>(p, v, RC_RELEASE, RC_SYSTEM)
#define rc_store_relaxed_system(p, v) rc_atomic_store<rc_u32>(p, v, RC_RELAXED, RC_SYSTEM)
#define rc_fetch_add_system(p, v) \
  rc_atomic_rmw<rc_u32>(p, RC_ACQ_REL, RC_SYSTEM, [=](rc_u32 old) { return old + (v); })

#else

struct rc_launch_record {
  unsigned written, tile_m, tile_n, group_size, blocks, threads;
};
extern "C" {
__device__ rc_launch_record rc_record;
}
#define RC_RECORD_LAUNCH(tile_m, tile_n, group_size)                                             \
  do {                                                                                           \
    if (threadIdx.x == 0 && blockIdx.x == 0)                                                     \
      rc_record = {1u, unsigned(tile_m), unsigned(tile_n), unsigned(group_size), gridDim.x, blockDim.x}; \
  } while (0)
#define RC_STEP()
#define rc_fence_system() __threadfence_system()

#if defined(__HIP__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define rc_spin_hint() __builtin_amdgcn_s_sleep(1)
#define rc_load_acquire_system(p) __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM)
#define rc_load_relaxed_system(p) __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM)
#define rc_store_release_system(p, v) __hip_atomic_store(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM)
#define rc_store_relaxed_system(p, v) __hip_atomic_store(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM)
#define rc_fetch_add_system(p, v) __hip_atomic_fetch_add(p, v, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_SYSTEM)
#else
#define rc_spin_hint() __nanosleep(20)
__device__ __forceinline__ rc_u32 rc_load_acquire_system(const rc_u32* p) {
  rc_u32 v;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ rc_u32 rc_load_relaxed_system(const rc_u32* p) {
  rc_u32 v;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void rc_store_release_system(rc_u32* p, rc_u32 v) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void rc_store_relaxed_system(rc_u32* p, rc_u32 v) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ rc_u32 rc_fetch_add_system(rc_u32* p, rc_u32 v) {
  rc_u32 old;
  asm volatile("atom.acq_rel.sys.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
#endif
#endif
