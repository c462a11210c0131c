// The access hooks of observed builds.
//
// The kernel's unit is compiled with the thread sanitizer's instrumentation; this unit, compiled
// without it, is all the runtime there is. A unit of its own, because instrumented hooks would
// call themselves. Accesses outside the range that the observer watches are not reported.
#include "rc_cpu.h"

extern "C" RC_HIDDEN int rc_quiet;

namespace {

enum rc_access_kind : unsigned { RC_READ = 7, RC_WRITE = 8, RC_VOLATILE_READ = 9, RC_VOLATILE_WRITE = 10 };

inline __attribute__((always_inline)) void report(unsigned what, const volatile void* address, const void* site) {
  rc_now->host->event(rc_now, what, address, site);
}
inline __attribute__((always_inline)) void access(unsigned kind, const volatile void* address, size_t size,
                                                  const void* site) {
  if (!rc_now || rc_quiet || address == &rc_quiet) return;
  const rc_host* host = rc_now->host;
  const uintptr_t end = (uintptr_t)address + size;  // overlaps the watched range?
  const uintptr_t from_guard = (uintptr_t)address - (uintptr_t)(rc_now->block_shared - rc_now->guard_bytes);
  const uintptr_t dynamic = (uintptr_t)(rc_now->dynamic_shared - rc_now->block_shared);
  if (from_guard < rc_now->guard_bytes * 2 + dynamic + rc_now->dynamic_bytes) {
    const uintptr_t at = from_guard - rc_now->guard_bytes;
    const bool inside = at + size <= rc_now->static_bytes && at < rc_now->static_bytes;
    if (!inside && !(at - dynamic < rc_now->dynamic_bytes && at - dynamic + size <= rc_now->dynamic_bytes))
      report((kind == RC_READ ? RC_OUTSIDE_SHARED : RC_OUTSIDE_SHARED_STORE) | RC_REPORT_ONLY | unsigned(size) << 24,
             address, site);
  }
  const bool shared = (uintptr_t)address - (uintptr_t)rc_now->block_shared < rc_now->shared_bytes;
  if (shared || (end > host->watch_first && (uintptr_t)address < host->watch_end))
    report(kind | RC_SYSTEM << 16 | (size > 255 ? 255u : unsigned(size)) << 24, address, site);
}
inline __attribute__((always_inline)) void volatile_access(unsigned kind, const volatile void* address, unsigned size,
                                                           const void* site) {
  // Reported wherever it is: a thread that polls a flag must be seen to wait.
  if (rc_now && !rc_quiet) report(kind | RC_SYSTEM << 16 | size << 24, address, site);
}
// A copy is reported in naturally aligned pieces of at most 16 bytes.
void range(unsigned kind, const volatile void* address, size_t size, const void* site) {
  uintptr_t at = (uintptr_t)address;
  for (const uintptr_t end = at + size; at < end;) {
    size_t piece = 16;
    while (piece > 1 && (at % piece != 0 || piece > end - at)) piece /= 2;
    access(kind, (const volatile void*)at, piece, site);
    at += piece;
  }
}
unsigned order_of(int order) {
  switch (order) {
    case __ATOMIC_RELAXED: return RC_RELAXED;
    case __ATOMIC_CONSUME:
    case __ATOMIC_ACQUIRE: return RC_ACQUIRE;
    case __ATOMIC_RELEASE: return RC_RELEASE;
    case __ATOMIC_ACQ_REL: return RC_ACQ_REL;
    default: return RC_SEQ_CST;
  }
}
inline __attribute__((always_inline)) void atomic(unsigned event, int order, const volatile void* address, unsigned size,
                                                  const void* site) {
  if (rc_now && !rc_quiet) report(event | order_of(order) << 8 | RC_SYSTEM << 16 | size << 24, address, site);
}

// One that fails is a load with the order of failure.
template <class T>
inline __attribute__((always_inline)) bool compare_and_swap(volatile T* p, T* expected, T desired, int order, int failure,
                                                            const void* site) {
  atomic(RC_COMPARE_AND_SWAP, order, p, sizeof(T), site);
  const bool swapped = __atomic_compare_exchange_n(p, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  atomic(RC_REPORT_ONLY | (swapped ? RC_ATOMIC_RMW : RC_ATOMIC_LOAD), swapped ? order : failure, p, sizeof(T), site);
  return swapped;
}

}  // namespace

#define SITE __builtin_return_address(0)
#define HOOK extern "C" RC_HIDDEN

HOOK void __tsan_init() {}
HOOK void __tsan_func_entry(void*) {}
HOOK void __tsan_func_exit() {}
HOOK void __tsan_vptr_update(void**, void*) {}
HOOK void __tsan_vptr_read(void**) {}

#define PLAIN(n)                                                                                     \
  HOOK void __tsan_read##n(void* p) { access(RC_READ, p, n, SITE); }                                 \
  HOOK void __tsan_write##n(void* p) { access(RC_WRITE, p, n, SITE); }                               \
  HOOK void __tsan_unaligned_read##n(void* p) { access(RC_READ, p, n, SITE); }                       \
  HOOK void __tsan_unaligned_write##n(void* p) { access(RC_WRITE, p, n, SITE); }                     \
  HOOK void __tsan_volatile_read##n(void* p) { volatile_access(RC_VOLATILE_READ, p, n, SITE); }      \
  HOOK void __tsan_volatile_write##n(void* p) { volatile_access(RC_VOLATILE_WRITE, p, n, SITE); }    \
  HOOK void __tsan_unaligned_volatile_read##n(void* p) { volatile_access(RC_VOLATILE_READ, p, n, SITE); } \
  HOOK void __tsan_unaligned_volatile_write##n(void* p) { volatile_access(RC_VOLATILE_WRITE, p, n, SITE); } \
  HOOK void __tsan_read_write##n(void* p) { access(RC_READ, p, n, SITE); access(RC_WRITE, p, n, SITE); } \
  HOOK void __tsan_unaligned_read_write##n(void* p) { access(RC_READ, p, n, SITE); access(RC_WRITE, p, n, SITE); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
HOOK void __tsan_read_range(void* p, unsigned long n) { range(RC_READ, p, n, SITE); }
HOOK void __tsan_write_range(void* p, unsigned long n) { range(RC_WRITE, p, n, SITE); }

#define ATOMIC(bits, T)                                                                              \
  HOOK T __tsan_atomic##bits##_load(const volatile T* p, int o) {                                    \
    atomic(RC_ATOMIC_LOAD, o, p, sizeof(T), SITE);                                                   \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                                  \
  HOOK void __tsan_atomic##bits##_store(volatile T* p, T v, int o) {                                 \
    atomic(RC_ATOMIC_STORE, o, p, sizeof(T), SITE);                                                  \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                        \
  }                                                                                                  \
  HOOK T __tsan_atomic##bits##_exchange(volatile T* p, T v, int o) {                                 \
    atomic(RC_ATOMIC_RMW, o, p, sizeof(T), SITE);                                                    \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                              \
  }                                                                                                  \
  HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* e, T v, int o, int failure) { \
    return compare_and_swap(p, e, v, o, failure, SITE);                                              \
  }                                                                                                  \
  HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* e, T v, int o, int failure) { \
    return compare_and_swap(p, e, v, o, failure, SITE);                                              \
  }                                                                                                  \
  HOOK T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T e, T v, int o, int failure) {   \
    compare_and_swap(p, &e, v, o, failure, SITE);                                                    \
    return e;                                                                                        \
  }
#define UPDATE(bits, T, name)                                                                        \
  HOOK T __tsan_atomic##bits##_fetch_##name(volatile T* p, T v, int o) {                             \
    atomic(RC_ATOMIC_RMW, o, p, sizeof(T), SITE);                                                    \
    return __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST);                                            \
  }
#define ALL(bits, T)                                                                                 \
  ATOMIC(bits, T)                                                                                    \
  UPDATE(bits, T, add) UPDATE(bits, T, sub) UPDATE(bits, T, and) UPDATE(bits, T, or) UPDATE(bits, T, xor) \
  UPDATE(bits, T, nand)
ALL(8, unsigned char)
ALL(16, unsigned short)
ALL(32, unsigned int)
ALL(64, unsigned long)
HOOK void __tsan_atomic_thread_fence(int o) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (rc_now && !rc_quiet) report(RC_FENCE | order_of(o) << 8 | RC_SYSTEM << 16, nullptr, SITE);
}
HOOK void __tsan_atomic_signal_fence(int) {}

// Comparisons: what a loop that waits compares with what it reads.
#define COMPARED(name, T)                                                                            \
  HOOK void __sanitizer_cov_trace_##name(T one, T other) {                                           \
    if (!rc_now) return;                                                                             \
    unsigned long long* pair = rc_now->compared[rc_now->compares++ % 4];                             \
    pair[0] = one;                                                                                   \
    pair[1] = other;                                                                                 \
  }
COMPARED(cmp1, unsigned char) COMPARED(const_cmp1, unsigned char)
COMPARED(cmp2, unsigned short) COMPARED(const_cmp2, unsigned short)
COMPARED(cmp4, unsigned int) COMPARED(const_cmp4, unsigned int)
COMPARED(cmp8, unsigned long long) COMPARED(const_cmp8, unsigned long long)
HOOK void __sanitizer_cov_trace_cmpf(float, float) {}
HOOK void __sanitizer_cov_trace_cmpd(double, double) {}
HOOK void __sanitizer_cov_trace_pc() {}
HOOK void __sanitizer_cov_trace_switch(unsigned long long, void*) {}

// Copies that the compiler makes calls of. Loops over volatile bytes, so that they stay loops.
HOOK void* memcpy(void* to, const void* from, size_t n) {
  range(RC_READ, from, n, SITE);
  range(RC_WRITE, to, n, SITE);
  for (size_t i = 0; i < n; i++) ((volatile char*)to)[i] = ((const char*)from)[i];
  return to;
}
HOOK void* memmove(void* to, const void* from, size_t n) {
  range(RC_READ, from, n, SITE);
  range(RC_WRITE, to, n, SITE);
  if (to < from)
    for (size_t i = 0; i < n; i++) ((volatile char*)to)[i] = ((const char*)from)[i];
  else
    for (size_t i = n; i-- > 0;) ((volatile char*)to)[i] = ((const char*)from)[i];
  return to;
}
HOOK void* memset(void* to, int byte, size_t n) {
  range(RC_WRITE, to, n, SITE);
  for (size_t i = 0; i < n; i++) ((volatile char*)to)[i] = char(byte);
  return to;
}
