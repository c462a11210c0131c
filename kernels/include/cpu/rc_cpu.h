// What a kernel compiled for the CPU is made of. Included in front of every source by the build.
//
// The executor runs each GPU thread as a fiber. It sets `rc_now` before it resumes one, and the
// kernel calls back through `rc_now->host` at barriers, waits and atomics. Every callback carries
// the operation, order, scope, size, address and (in the callee) the return address.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#define RC_CPU 1
#define RC_HIDDEN __attribute__((visibility("hidden")))
#define RC_EXPORT __attribute__((visibility("default")))

// As in rankcheck.h; here too, because `defines` may name them in a source without that header.
typedef unsigned char rc_u8;
typedef unsigned short rc_u16;
typedef unsigned int rc_u32;
typedef unsigned long long rc_u64;

struct rc_dim3 {
  unsigned x, y, z;
};

// Kinds of callback; the same numbers as in simt::abi.
enum rc_event : unsigned {
  RC_BARRIER = 0,      // wait for all threads of the block
  RC_SPIN = 1,         // cannot go on until memory changes
  RC_TILE_STEP = 2,    // a good place to let the block's other threads catch up
  RC_ATOMIC_LOAD = 3,
  RC_ATOMIC_STORE = 4,
  RC_ATOMIC_RMW = 5,
  RC_FENCE = 6,
  RC_COMPARE_AND_SWAP = 11,  // one begins; what it did is reported behind it, with RC_REPORT_ONLY
  RC_PACKET_STORE = 12,      // data and flag in one unit of 8 or 16 bytes
  RC_PACKET_LOAD = 13,
  RC_PACKET_MATCH = 14,      // the packet just loaded is the one that was waited for
  RC_WAVE_BARRIER = 15,      // wait for all threads of the wave
  RC_MISALIGNED = 16,        // found by the compiler's checks; the address is that of an rc_violation
  RC_INDEX = 17,
  RC_OUTSIDE_SHARED = 18,    // an access beside the block's shared memory
  RC_OUTSIDE_SHARED_STORE = 19,
  RC_REPORT_ONLY = 0x80,     // no place to switch threads
};
enum rc_order : unsigned { RC_RELAXED = 0, RC_ACQUIRE = 1, RC_RELEASE = 2, RC_ACQ_REL = 3, RC_SEQ_CST = 4 };
enum rc_scope : unsigned { RC_WAVE = 0, RC_BLOCK = 1, RC_AGENT = 2, RC_SYSTEM = 3 };

struct rc_thread;
struct rc_host {
  void (*event)(rc_thread*, unsigned what /* event | order << 8 | scope << 16 | size << 24 */,
                const volatile void* address, const void* site);
  // Plain accesses are reported only in this range of addresses, and only by observed builds.
  uintptr_t watch_first, watch_end;
};
struct rc_thread {
  rc_dim3 tid, bid, bdim, gdim;
  char* block_shared;    // static block-shared memory of this thread's block
  char* dynamic_shared;  // and the dynamic part
  unsigned long long* departed;  // by warp of the block: lanes whose threads have returned
  const rc_host* host;
  void* fiber;
  unsigned long long clock;  // what the kernel read last, so that a time-out is no standstill
  size_t shared_bytes;       // bytes at block_shared whose accesses are reported
  // Static and dynamic memory have this many bytes; beside them lie guards, up to this far out.
  size_t static_bytes, dynamic_bytes, guard_bytes;
  // The last comparisons of an observed build, so that a wait can say what it waits for.
  unsigned long long compared[4][2];
  unsigned compares;
};
// What one of the compiler's checks says.
struct rc_violation {
  unsigned bytes, stores;    // of a misaligned access
  unsigned long long value;  // its address, or the index
  const char* type;          // of what is accessed, or of the array
};

extern "C" RC_HIDDEN rc_thread* rc_now;

// Kept out of line, so that its return address is the line in the kernel.
RC_HIDDEN void rc_call_host(unsigned what, const volatile void* address);

static inline __attribute__((always_inline)) void rc_event_at(rc_event event, rc_order order, rc_scope scope,
                                                              unsigned size, const volatile void* address) {
  rc_call_host(event | order << 8 | scope << 16 | size << 24, address);
}

#define threadIdx (rc_now->tid)
#define blockIdx (rc_now->bid)
#define blockDim (rc_now->bdim)
#define gridDim (rc_now->gdim)
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#ifndef __restrict__
#define __restrict__
#endif
// Thread-local storage, but `__tls_get_addr` is ours: it answers with the block's own buffer.
#define __shared__ static __thread

static inline void* rc_dynamic_shared() { return rc_now->dynamic_shared; }
// What `extern __shared__ T name[];` at file scope becomes.
template <class T>
struct rc_dynamic_shared_array {
  operator T*() const { return static_cast<T*>(rc_dynamic_shared()); }
};

// Observed builds report atomics by themselves; those below have been reported, with their scope.
#ifdef RC_OBSERVED
extern "C" RC_HIDDEN int rc_quiet;
struct rc_reported {
  // The compiler sees nobody read it between the two, so it is told that somebody does.
  rc_reported() {
    rc_quiet = 1;
    asm volatile("" ::: "memory");
  }
  ~rc_reported() {
    asm volatile("" ::: "memory");
    rc_quiet = 0;
  }
};
#else
struct rc_reported {
  rc_reported() {}
};
#endif

static inline __attribute__((always_inline)) void __syncthreads() {
  rc_event_at(RC_BARRIER, RC_ACQ_REL, RC_BLOCK, 0, nullptr);
}
static inline __attribute__((always_inline)) void __threadfence_block() {
  rc_event_at(RC_FENCE, RC_SEQ_CST, RC_BLOCK, 0, nullptr);
  rc_reported reported;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline __attribute__((always_inline)) void __threadfence() {
  rc_event_at(RC_FENCE, RC_SEQ_CST, RC_AGENT, 0, nullptr);
  rc_reported reported;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline __attribute__((always_inline)) void __threadfence_system() {
  rc_event_at(RC_FENCE, RC_SEQ_CST, RC_SYSTEM, 0, nullptr);
  rc_reported reported;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// Atomics. The hook comes first, the native access after it: a fiber is never switched in between.
template <class T>
static inline __attribute__((always_inline)) T rc_atomic_load(const volatile T* p, rc_order order, rc_scope scope) {
  rc_event_at(RC_ATOMIC_LOAD, order, scope, sizeof(T), p);
  rc_reported reported;
  T value;
  __atomic_load(const_cast<const T*>(p), &value, __ATOMIC_SEQ_CST);
  return value;
}
template <class T>
static inline __attribute__((always_inline)) void rc_atomic_store(volatile T* p, T value, rc_order order, rc_scope scope) {
  rc_event_at(RC_ATOMIC_STORE, order, scope, sizeof(T), p);
  rc_reported reported;
  __atomic_store(const_cast<T*>(p), &value, __ATOMIC_SEQ_CST);
}
// One read-modify-write by compare and swap: `change` maps the old value to the new one.
template <class T, class Change>
static inline __attribute__((always_inline)) T rc_atomic_rmw(volatile T* p, rc_order order, rc_scope scope, Change change) {
  rc_event_at(RC_ATOMIC_RMW, order, scope, sizeof(T), p);
  rc_reported reported;
  T* q = const_cast<T*>(p);
  T old, next;
  __atomic_load(q, &old, __ATOMIC_SEQ_CST);
  do {
    next = change(old);
  } while (!__atomic_compare_exchange(q, &old, &next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old;
}
template <class T>
static inline __attribute__((always_inline)) bool rc_atomic_cas(volatile T* p, T* expected, T desired, rc_order order,
                                                                rc_scope scope) {
  rc_event_at(RC_COMPARE_AND_SWAP, order, scope, sizeof(T), p);
  const bool swapped = [&] {
    rc_reported reported;
    return __atomic_compare_exchange(const_cast<T*>(p), expected, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }();
  // One that fails only loads.
  rc_event_at(rc_event(RC_REPORT_ONLY | (swapped ? RC_ATOMIC_RMW : RC_ATOMIC_LOAD)), order, scope, sizeof(T), p);
  return swapped;
}

// Packets: data and flag stored and loaded as one unit, which the hardware does not tear.
template <class T>
static inline __attribute__((always_inline)) void rc_packet_store(T* p, T packet) {
  static_assert(sizeof(T) == 8 || sizeof(T) == 16, "a packet has 8 or 16 bytes");
  rc_event_at(RC_PACKET_STORE, RC_RELAXED, RC_SYSTEM, sizeof(T), p);
  rc_reported reported;
  __builtin_memcpy(p, &packet, sizeof(T));
}
template <class T>
static inline __attribute__((always_inline)) T rc_packet_load(const T* p) {
  static_assert(sizeof(T) == 8 || sizeof(T) == 16, "a packet has 8 or 16 bytes");
  rc_event_at(RC_PACKET_LOAD, RC_RELAXED, RC_SYSTEM, sizeof(T), p);
  rc_reported reported;
  T packet;
  __builtin_memcpy(&packet, p, sizeof(T));
  return packet;
}
// Waits for the packet that `matches` accepts.
template <class T, class Matches>
static inline __attribute__((always_inline)) T rc_packet_wait(const T* p, Matches matches) {
  for (;;) {
    const T packet = rc_packet_load(p);
    if (matches(packet)) {
      rc_event_at(rc_event(RC_PACKET_MATCH | RC_REPORT_ONLY), RC_RELAXED, RC_SYSTEM, sizeof(T), p);
      return packet;
    }
    rc_event_at(RC_SPIN, RC_RELAXED, RC_SYSTEM, 0, nullptr);
  }
}

// What the kernel says about its own launch (RC_RECORD_LAUNCH in rankcheck.h).
struct rc_launch_record {
  unsigned written, tile_m, tile_n, group_size, blocks, threads;
};

// What an object tells the executor. One a translation unit, made by the build.
struct rc_parameter {
  unsigned size, align;
};
struct rc_entry {
  const char* name;
  void (*run)(void** arguments);
  const rc_parameter* parameters;
  unsigned parameter_count;
};
struct rc_module {
  unsigned version;
  unsigned entry_count;
  const rc_entry* entries;
  rc_thread** now;
  rc_launch_record* record;
  unsigned observed;  // 1 where accesses report themselves
};
#ifdef RC_OBSERVED
#define RC_IS_OBSERVED 1
#else
#define RC_IS_OBSERVED 0
#endif
