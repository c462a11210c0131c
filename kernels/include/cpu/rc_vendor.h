// The vendors' spellings that need no header of their own: vector types and atomics.
#pragma once
#include <cmath>
#include "rc_warp.h"

#define RC_VECTOR(T, name)                                          \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                \
  struct name##3 { T x, y, z; };                                    \
  struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; }; \
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
  static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
typedef unsigned char rc_uchar;
typedef unsigned short rc_ushort;
typedef unsigned int rc_uint;
typedef unsigned long long rc_ulonglong;
typedef long long rc_longlong;
typedef signed char rc_schar;
RC_VECTOR(rc_schar, char)
RC_VECTOR(rc_uchar, uchar)
RC_VECTOR(short, short)
RC_VECTOR(rc_ushort, ushort)
RC_VECTOR(int, int)
RC_VECTOR(rc_uint, uint)
RC_VECTOR(rc_longlong, longlong)
RC_VECTOR(rc_ulonglong, ulonglong)
RC_VECTOR(float, float)
RC_VECTOR(double, double)
#undef RC_VECTOR

struct dim3 : rc_dim3 {
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : rc_dim3{x, y, z} {}
};

// Device functions may call these as if they were built in.
template <class T>
static inline T min(T a, T b) { return b < a ? b : a; }
template <class T>
static inline T max(T a, T b) { return a < b ? b : a; }
template <class T>
static inline T __ldg(const T* p) { return *p; }
static inline int __float_as_int(float f) { int i; __builtin_memcpy(&i, &f, 4); return i; }
static inline unsigned __float_as_uint(float f) { unsigned i; __builtin_memcpy(&i, &f, 4); return i; }
static inline float __int_as_float(int i) { float f; __builtin_memcpy(&f, &i, 4); return f; }
static inline float __uint_as_float(unsigned i) { float f; __builtin_memcpy(&f, &i, 4); return f; }
static inline void __nanosleep(unsigned) { rc_event_at(RC_SPIN, RC_RELAXED, RC_SYSTEM, 0, nullptr); }
static inline void __builtin_amdgcn_s_sleep(int) { rc_event_at(RC_SPIN, RC_RELAXED, RC_SYSTEM, 0, nullptr); }
static inline void __builtin_amdgcn_s_barrier() { __syncthreads(); }
static inline unsigned long long wall_clock64() { return rc_now->clock = __builtin_ia32_rdtsc(); }
static inline long long clock64() { return static_cast<long long>(wall_clock64()); }

#define RC_VENDOR_ATOMIC(suffix, scope)                                                                              \
  template <class T, class U>                                                                                        \
  static inline T atomicAdd##suffix(T* p, U v) { return rc_atomic_rmw(p, RC_RELAXED, scope, [=](T o) { return T(o + v); }); } \
  template <class T, class U>                                                                                        \
  static inline T atomicSub##suffix(T* p, U v) { return rc_atomic_rmw(p, RC_RELAXED, scope, [=](T o) { return T(o - v); }); } \
  template <class T, class U>                                                                                        \
  static inline T atomicExch##suffix(T* p, U v) { return rc_atomic_rmw(p, RC_RELAXED, scope, [=](T) { return T(v); }); }  \
  template <class T, class U>                                                                                        \
  static inline T atomicMin##suffix(T* p, U v) { return rc_atomic_rmw(p, RC_RELAXED, scope, [=](T o) { return T(v) < o ? T(v) : o; }); } \
  template <class T, class U>                                                                                        \
  static inline T atomicMax##suffix(T* p, U v) { return rc_atomic_rmw(p, RC_RELAXED, scope, [=](T o) { return o < T(v) ? T(v) : o; }); } \
  template <class T, class U>                                                                                        \
  static inline T atomicAnd##suffix(T* p, U v) { return rc_atomic_rmw(p, RC_RELAXED, scope, [=](T o) { return T(o & v); }); } \
  template <class T, class U>                                                                                        \
  static inline T atomicOr##suffix(T* p, U v) { return rc_atomic_rmw(p, RC_RELAXED, scope, [=](T o) { return T(o | v); }); }  \
  template <class T, class U>                                                                                        \
  static inline T atomicXor##suffix(T* p, U v) { return rc_atomic_rmw(p, RC_RELAXED, scope, [=](T o) { return T(o ^ v); }); } \
  template <class T, class U, class V>                                                                               \
  static inline T atomicCAS##suffix(T* p, U compare, V v) {                                                          \
    T old = T(compare);                                                                                              \
    rc_atomic_cas(p, &old, T(v), RC_RELAXED, scope);                                                                 \
    return old;                                                                                                      \
  }
RC_VENDOR_ATOMIC(, RC_AGENT)
RC_VENDOR_ATOMIC(_block, RC_BLOCK)
RC_VENDOR_ATOMIC(_system, RC_SYSTEM)
#undef RC_VENDOR_ATOMIC

// HIP's scoped builtins take the compilers' memory orders and these scopes. Macros, because a clang
// knows the names as builtins on every target and lets nobody declare them.
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
static constexpr rc_order rc_order_of(int order) {
  return order == __ATOMIC_RELAXED                             ? RC_RELAXED
         : order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ? RC_ACQUIRE
         : order == __ATOMIC_RELEASE                           ? RC_RELEASE
         : order == __ATOMIC_ACQ_REL                           ? RC_ACQ_REL
                                                               : RC_SEQ_CST;
}
static constexpr rc_scope rc_scope_of(int scope) {
  return scope >= __HIP_MEMORY_SCOPE_SYSTEM      ? RC_SYSTEM
         : scope == __HIP_MEMORY_SCOPE_AGENT     ? RC_AGENT
         : scope == __HIP_MEMORY_SCOPE_WORKGROUP ? RC_BLOCK
                                                 : RC_WAVE;
}
template <class T> struct rc_plain { typedef T type; };
template <class T> struct rc_plain<volatile T> { typedef T type; };
template <class T> struct rc_plain<const T> { typedef T type; };
template <class T> struct rc_plain<const volatile T> { typedef T type; };
template <class T>
static inline __attribute__((always_inline)) typename rc_plain<T>::type rc_hip_atomic_load(T* p, int order, int scope) {
  return rc_atomic_load<typename rc_plain<T>::type>(p, rc_order_of(order), rc_scope_of(scope));
}
template <class T, class U>
static inline __attribute__((always_inline)) void rc_hip_atomic_store(T* p, U v, int order, int scope) {
  rc_atomic_store<typename rc_plain<T>::type>(p, v, rc_order_of(order), rc_scope_of(scope));
}
#define RC_HIP_RMW(name, expression)                                                            \
  template <class T, class U>                                                                   \
  static inline __attribute__((always_inline)) T name(T* p, U v, int order, int scope) {        \
    return rc_atomic_rmw(p, rc_order_of(order), rc_scope_of(scope), [=](T o) { return T(expression); }); \
  }
RC_HIP_RMW(rc_hip_atomic_fetch_add, o + v)
RC_HIP_RMW(rc_hip_atomic_fetch_sub, o - v)
RC_HIP_RMW(rc_hip_atomic_fetch_or, o | v)
RC_HIP_RMW(rc_hip_atomic_fetch_and, o & v)
RC_HIP_RMW(rc_hip_atomic_fetch_xor, o ^ v)
RC_HIP_RMW(rc_hip_atomic_fetch_min, T(v) < o ? T(v) : o)
RC_HIP_RMW(rc_hip_atomic_fetch_max, o < T(v) ? T(v) : o)
RC_HIP_RMW(rc_hip_atomic_exchange, (void(o), v))
#undef RC_HIP_RMW
template <class T, class U>
static inline __attribute__((always_inline)) bool rc_hip_atomic_compare_exchange_strong(T* p, T* expected, U v, int order, int, int scope) {
  return rc_atomic_cas(p, expected, T(v), rc_order_of(order), rc_scope_of(scope));
}
template <class T, class U>
static inline __attribute__((always_inline)) bool rc_hip_atomic_compare_exchange_weak(T* p, T* expected, U v, int order, int failure, int scope) {
  return rc_hip_atomic_compare_exchange_strong(p, expected, v, order, failure, scope);
}
#define __hip_atomic_compare_exchange_strong rc_hip_atomic_compare_exchange_strong
#define __hip_atomic_compare_exchange_weak rc_hip_atomic_compare_exchange_weak
#define __hip_atomic_exchange rc_hip_atomic_exchange
#define __hip_atomic_fetch_add rc_hip_atomic_fetch_add
#define __hip_atomic_fetch_and rc_hip_atomic_fetch_and
#define __hip_atomic_fetch_max rc_hip_atomic_fetch_max
#define __hip_atomic_fetch_min rc_hip_atomic_fetch_min
#define __hip_atomic_fetch_or rc_hip_atomic_fetch_or
#define __hip_atomic_fetch_sub rc_hip_atomic_fetch_sub
#define __hip_atomic_fetch_xor rc_hip_atomic_fetch_xor
#define __hip_atomic_load rc_hip_atomic_load
#define __hip_atomic_store rc_hip_atomic_store
#define __builtin_amdgcn_fence(order, scope_name)                                             \
  rc_event_at(RC_FENCE, rc_order_of(order),                                                   \
              scope_name[0] == 0 ? RC_SYSTEM : scope_name[0] == 'a' ? RC_AGENT : RC_BLOCK, 0, nullptr)
