// Litmus tests of the memory model: one entry each, judged by the race detector. The table with
// what each must give is in tests/tests/litmus.rs; numbers and names are the same there.
//
// `h` is rank 0's heap, which all ranks use. Threads are told apart by (rank, block, thread).
#include "rankcheck.h"

#define R __ATOMIC_RELAXED
#define ACQ __ATOMIC_ACQUIRE
#define REL __ATOMIC_RELEASE
#define AR __ATOMIC_ACQ_REL
#define SYS __HIP_MEMORY_SCOPE_SYSTEM
#define AGT __HIP_MEMORY_SCOPE_AGENT
#define WG __HIP_MEMORY_SCOPE_WORKGROUP

typedef rc_u32 u32;
enum : int { X = 0x100, Y = 0x110, FL = 0x200, G = 0x300, C = 0x400, WRONG = 0x7000 };

#define TEST(name) RC_KERNEL name(char* h, int rank)
#define INL static __device__ __forceinline__

// Who runs: T(rank, block, thread).
#define T(r, b, t) if (rank == (r) && blockIdx.x == (b) && threadIdx.x == (t))
#define P(r) T(r, 0, 0)

template <class V = u32>
INL V* at(char* h, int offset) { return (V*)(h + offset); }
INL void put(char* h, int a, u32 v) { *at(h, a) = v; }
INL void st(char* h, int a, u32 v, int order, int scope = SYS) { __hip_atomic_store(at(h, a), v, order, scope); }
INL u32 ld(char* h, int a, int order, int scope = SYS) { return __hip_atomic_load(at(h, a), order, scope); }
INL u32 add(char* h, int a, u32 v, int order, int scope = SYS) { return __hip_atomic_fetch_add(at(h, a), v, order, scope); }
INL void wait_eq(char* h, int a, u32 v, int order, int scope = SYS) {
  while (ld(h, a, order, scope) != v) rc_spin_hint();
}
INL void wait_ge(char* h, int a, u32 v, int order, int scope = SYS) {
  while (ld(h, a, order, scope) < v) rc_spin_hint();
}
// A wrong value is noted where nobody else writes.
INL void check(char* h, int rank, u32 got, u32 wanted) {
  if (got != wanted) *at(h, WRONG + 256 * rank + 64 * blockIdx.x + 4 * threadIdx.x) = 1;
}
#define RD(a, v) check(h, rank, *at(h, a), v)
#define FENCE(order, scope) __builtin_amdgcn_fence(order, scope)

// 1-22: message passing.
#define MP(name, writer, reader) \
  TEST(name) { P(0) { put(h, X, 7); writer; } P(1) { reader; RD(X, 7); } }
#define MPB(name, writer, reader) \
  TEST(name) { T(0, 0, 0) { put(h, X, 7); writer; } T(0, 1, 0) { reader; RD(X, 7); } }
#define MPT(name, writer, reader) \
  TEST(name) { T(0, 0, 0) { put(h, X, 7); writer; } T(0, 0, 1) { reader; RD(X, 7); } }
MP(t01, st(h, FL, 1, REL), wait_eq(h, FL, 1, ACQ))
MP(t02, st(h, FL, 1, R), wait_eq(h, FL, 1, ACQ))
MP(t03, st(h, FL, 1, REL), wait_eq(h, FL, 1, R))
MP(t04, put(h, FL, 1), while (*at(h, FL) == 0) rc_spin_hint())
MP(t05, st(h, FL, 1, REL, AGT), wait_eq(h, FL, 1, ACQ, AGT))
MP(t06, st(h, FL, 1, REL, AGT), wait_eq(h, FL, 1, ACQ))
MP(t07, st(h, FL, 1, REL), wait_eq(h, FL, 1, ACQ, AGT))
MPB(t08, st(h, FL, 1, REL, AGT), wait_eq(h, FL, 1, ACQ, AGT))
MPB(t09, st(h, FL, 1, REL, WG), wait_eq(h, FL, 1, ACQ, AGT))
MPT(t10, st(h, FL, 1, REL, WG), wait_eq(h, FL, 1, ACQ, WG))
MPT(t11, st(h, FL, 1, REL), wait_eq(h, FL, 1, ACQ, WG))
MP(t12, FENCE(REL, ""); st(h, FL, 1, R), wait_eq(h, FL, 1, R); FENCE(ACQ, ""))
MP(t13, FENCE(REL, ""); st(h, FL, 1, R), wait_eq(h, FL, 1, ACQ))
MP(t14, FENCE(REL, "agent"); st(h, FL, 1, R), wait_eq(h, FL, 1, ACQ))
MP(t15, st(h, FL, 1, R); FENCE(REL, ""), wait_eq(h, FL, 1, ACQ))
MP(t16, st(h, FL, 1, REL), FENCE(ACQ, ""); wait_eq(h, FL, 1, R))
MP(t17, FENCE(ACQ, ""); st(h, FL, 1, R), wait_eq(h, FL, 1, ACQ))
MP(t18, st(h, FL, 1, REL); st(h, FL, 2, R), wait_eq(h, FL, 2, ACQ))
MP(t19, st(h, G, 1, REL), wait_eq(h, FL, 0, ACQ))
#define VST *(volatile u32*)at(h, FL) = 1
#define VWAIT while (*(volatile u32*)at(h, FL) == 0) rc_spin_hint()
MP(t20, VST, VWAIT)
MP(t21, __threadfence_system(); VST, VWAIT; __threadfence_system())
MP(t22, __threadfence(); VST, VWAIT; __threadfence_system())

// 23-29: the classic shapes.
TEST(t23) { P(0) { st(h, X, 1, R); ld(h, Y, R); } P(1) { st(h, Y, 1, R); ld(h, X, R); } }
TEST(t24) { P(0) { ld(h, X, R); st(h, Y, 1, R); } P(1) { ld(h, Y, R); st(h, X, 1, R); } }
TEST(t25) {
  P(0) st(h, X, 1, REL);
  P(1) st(h, Y, 1, REL);
  P(2) { ld(h, X, ACQ); ld(h, Y, ACQ); }
  P(3) { ld(h, Y, ACQ); ld(h, X, ACQ); }
}
TEST(t26) { P(0) { st(h, X, 1, R); st(h, Y, 2, R); } P(1) { st(h, Y, 1, R); st(h, X, 2, R); } }
TEST(t27) { P(0) { put(h, X, 1); put(h, Y, 2); } P(1) { put(h, Y, 1); put(h, X, 2); } }
INL void critical(char* h) { *at(h, C) = *at(h, C) + 1; }
TEST(t28) {
  P(0) { st(h, X, 1, REL); if (ld(h, Y, ACQ) == 0) critical(h); }
  P(1) { st(h, Y, 1, REL); if (ld(h, X, ACQ) == 0) critical(h); }
}
TEST(t29) {
  P(0) { st(h, X, 1, R); __threadfence_system(); if (ld(h, Y, R) == 0) critical(h); }
  P(1) { st(h, Y, 1, R); __threadfence_system(); if (ld(h, X, R) == 0) critical(h); }
}

// 30-33: chains.
TEST(t30) {
  P(0) { put(h, X, 7); st(h, FL, 1, REL); }
  P(1) { wait_eq(h, FL, 1, ACQ); st(h, G, 1, REL); }
  P(2) { wait_eq(h, G, 1, ACQ); RD(X, 7); }
}
TEST(t31) {
  T(0, 0, 0) { put(h, X, 7); st(h, FL, 1, REL, AGT); }
  T(0, 1, 0) { wait_eq(h, FL, 1, ACQ, AGT); st(h, G, 1, REL, SYS); }
  T(1, 0, 0) { wait_eq(h, G, 1, ACQ, SYS); RD(X, 7); }
}
TEST(t32) {
  T(0, 0, 0) { put(h, X, 7); st(h, FL, 1, REL, WG); }
  T(0, 0, 1) { wait_eq(h, FL, 1, ACQ, WG); st(h, G, 1, REL, AGT); }
  T(0, 1, 0) { wait_eq(h, G, 1, ACQ, AGT); st(h, C, 1, REL, SYS); }
  T(1, 0, 0) { wait_eq(h, C, 1, ACQ, SYS); RD(X, 7); }
}
TEST(t33) {
  T(0, 0, 0) { put(h, X, 7); st(h, FL, 1, REL, AGT); }
  T(0, 1, 0) { wait_eq(h, FL, 1, ACQ, AGT); st(h, G, 1, REL, AGT); }
  T(1, 0, 0) { wait_eq(h, G, 1, ACQ, SYS); RD(X, 7); }
}

// 34-39: block barriers.
#define READER T(1, 0, 0) { wait_eq(h, FL, 1, ACQ); RD(X, 7); RD(Y, 8); }
TEST(t34) {
  T(0, 0, 0) { put(h, X, 7); __syncthreads(); st(h, FL, 1, REL); }
  T(0, 0, 1) { put(h, Y, 8); __syncthreads(); }
  READER
}
TEST(t35) {
  T(0, 0, 0) { put(h, X, 7); st(h, FL, 1, REL); }
  T(0, 0, 1) put(h, Y, 8);
  READER
}
TEST(t36) {
  T(0, 0, 0) { put(h, X, 7); st(h, FL, 1, REL); __syncthreads(); }
  T(0, 0, 1) { put(h, Y, 8); __syncthreads(); }
  READER
}
TEST(t37) {
  T(0, 0, 0) { put(h, X, 7); st(h, FL, 1, REL); }
  T(1, 0, 0) { wait_eq(h, FL, 1, ACQ); __syncthreads(); }
  T(1, 0, 1) { __syncthreads(); RD(X, 7); }
}
TEST(t38) {
  T(0, 0, 0) { put(h, X, 7); st(h, FL, 1, REL); }
  T(1, 0, 0) { wait_eq(h, FL, 1, R); __syncthreads(); }
  T(1, 0, 1) { __syncthreads(); FENCE(ACQ, ""); RD(X, 7); }
}
TEST(t39) {
  T(0, 0, 0) { __syncthreads(); __syncthreads(); }
  T(0, 0, 1) { __syncthreads(); wait_eq(h, FL, 1, ACQ); }
}

// 40-43: the grid.
#define GRID(name, arrive, waits)                                                                      \
  TEST(name) {                                                                                         \
    if (rank == 0) {                                                                                   \
      if (threadIdx.x == 0) put(h, blockIdx.x == 0 ? X : Y, blockIdx.x == 0 ? 7 : 8);                  \
      __syncthreads();                                                                                 \
      if (threadIdx.x == 0) add(h, C, 1, arrive, AGT);                                                 \
      T(0, 0, 0) { if (waits) wait_eq(h, C, 2, ACQ, AGT); st(h, FL, 1, REL); }                         \
    }                                                                                                  \
    READER                                                                                             \
  }
GRID(t40, AR, true)
GRID(t41, R, true)
GRID(t42, AR, false)
TEST(t43) {
  put(h, blockIdx.x == 0 ? X : Y, blockIdx.x == 0 ? 7 : 8);
  __threadfence();
  if (add(h, C, 1, R, AGT) == 1) { __threadfence(); RD(X, 7); RD(Y, 8); }
}

// 44-49: read-modify-writes.
TEST(t44) {
  P(0) { put(h, X, 7); st(h, FL, 1, REL); }
  P(1) { wait_ge(h, FL, 1, R); add(h, FL, 1, R); }
  P(2) { wait_eq(h, FL, 2, ACQ); RD(X, 7); }
}
TEST(t45) {
  P(0) { put(h, X, 7); st(h, FL, 1, REL); }
  P(1) { wait_eq(h, FL, 1, R); st(h, FL, 2, R); }
  P(2) { wait_eq(h, FL, 2, ACQ); RD(X, 7); }
}
#define COUNTER(name, n, arrive, poll)                                                       \
  TEST(name) {                                                                               \
    put(h, X + 16 * rank, rank + 1);                                                         \
    add(h, C, 1, arrive);                                                                    \
    wait_eq(h, C, n, poll);                                                                  \
    for (int j = 0; j < n; j++) RD(X + 16 * j, u32(j + 1));                                  \
  }
COUNTER(t46, 3, AR, ACQ)
COUNTER(t47, 4, REL, ACQ)
COUNTER(t48, 3, R, ACQ)
COUNTER(t49, 3, REL, R)

// 50-58: epochs, slots, resets.
INL void produce(char* h, u32 calls, u32 slots, bool ack, bool constant) {
  for (u32 k = 1; k <= calls; k++) {
    if (ack && k > slots) wait_ge(h, G, k - slots, ACQ);
    put(h, X + 16 * (k % slots), k * 10);
    st(h, FL, constant ? 1 : k, REL);
  }
}
INL void consume(char* h, int rank, u32 calls, u32 slots, bool ack, bool constant, bool equal) {
  for (u32 k = 1; k <= calls; k++) {
    if (equal) wait_eq(h, FL, k, ACQ);
    else wait_ge(h, FL, constant ? 1 : k, ACQ);
    RD(X + 16 * (k % slots), k * 10);
    if (ack) st(h, G, k, REL);
  }
}
#define EPOCHS(name, calls, slots, ack, constant, equal)               \
  TEST(name) {                                                         \
    P(0) produce(h, calls, slots, ack, constant);                      \
    P(1) consume(h, rank, calls, slots, ack, constant, equal);         \
  }
EPOCHS(t50, 3, 1, true, false, false)
EPOCHS(t51, 2, 1, false, false, false)
EPOCHS(t52, 3, 2, false, false, false)
EPOCHS(t53, 2, 2, false, true, false)
EPOCHS(t54, 3, 4, false, false, true)
INL void exchange(char* h, int rank, u32 calls, u32 slots, bool end_barrier) {
  const int n = 2;
  for (u32 k = 1; k <= calls; k++) {
    for (int p = 0; p < n; p++) put(h, 0x10000 + 0x1000 * p + 256 * (k % slots) + 16 * rank, k);
    for (int p = 0; p < n; p++) st(h, FL + 0x1000 * p + 16 * rank, k, REL);
    for (int q = 0; q < n; q++) wait_ge(h, FL + 0x1000 * rank + 16 * q, k, ACQ);
    for (int q = 0; q < n; q++) RD(0x10000 + 0x1000 * rank + 256 * (k % slots) + 16 * q, k);
    if (!end_barrier) continue;
    for (int p = 0; p < n; p++) st(h, G + 0x1000 * p + 16 * rank, k, REL);
    for (int q = 0; q < n; q++) wait_ge(h, G + 0x1000 * rank + 16 * q, k, ACQ);
  }
}
TEST(t55) { exchange(h, rank, 3, 2, false); }
TEST(t56) { exchange(h, rank, 2, 1, false); }
TEST(t57) { exchange(h, rank, 2, 1, true); }
TEST(t58) {
  for (int k = 0; k < 2; k++) {
    st(h, FL + 64 * (1 - rank), 1, REL);
    wait_eq(h, FL + 64 * rank, 1, ACQ);
    st(h, FL + 64 * rank, 0, R);
  }
}

// 59-63: sizes.
INL void st8(char* h, int a, rc_u8 v, int order) { __hip_atomic_store(at<rc_u8>(h, a), v, order, SYS); }
INL void wait8(char* h, int a, rc_u8 v) {
  while (__hip_atomic_load(at<rc_u8>(h, a), ACQ, SYS) != v) rc_spin_hint();
}
TEST(t59) {
  P(0) st8(h, FL, 255, R);
  P(1) st8(h, FL + 1, 255, R);
  P(2) while (__hip_atomic_load(at<rc_u64>(h, FL), ACQ, SYS) != 0xffff) rc_spin_hint();
}
TEST(t60) {
  P(0) { put(h, X, 7); st8(h, FL, 1, REL); }
  P(1) { put(h, Y, 8); st8(h, FL + 1, 1, REL); }
  P(2) { wait8(h, FL, 1); wait8(h, FL + 1, 1); RD(X, 7); RD(Y, 8); }
}
TEST(t61) { T(0, 0, 0) *at<rc_u16>(h, X) = 1; T(0, 0, 1) *at<rc_u16>(h, X + 2) = 2; }
TEST(t62) { P(0) *at<rc_vec16>(h, X) = rc_vec16{{1, 0, 0, 0}}; P(1) put(h, X + 12, 2); }
TEST(t63) { P(0) add(h, C, 1, R); P(1) __hip_atomic_fetch_add(at<rc_u64>(h, C), 1ull, R, SYS); }

// 64-65: waves.
TEST(t64) { T(0, 0, 0) put(h, X, 7); T(0, 0, 1) RD(X, 7); }
TEST(t65) { T(0, 0, 0) { put(h, X, 7); __syncwarp(); } T(0, 0, 1) { __syncwarp(); RD(X, 7); } }

// 66-72: packets and sentinels.
struct alignas(16) packet { rc_u64 data, flag; };
INL void send(char* h, int a, rc_u64 data, rc_u64 flag) { rc_packet_store(at<packet>(h, a), packet{data, flag}); }
INL rc_u64 receive(char* h, int a, rc_u64 flag) {
  return rc_packet_wait(at<packet>(h, a), [=](const packet& p) { return p.flag == flag; }).data;
}
TEST(t66) { P(0) send(h, X, 7, 1); P(1) check(h, rank, u32(receive(h, X, 1)), 7); }
TEST(t67) { P(0) *at<packet>(h, X) = packet{7, 1}; P(1) while (at<packet>(h, X)->flag != 1) rc_spin_hint(); }
TEST(t68) { P(0) { put(h, Y, 9); send(h, X, 7, 1); } P(1) { receive(h, X, 1); RD(Y, 9); } }
TEST(t69) { P(0) { send(h, X, 7, 1); send(h, X, 8, 2); } P(1) { receive(h, X, 1); receive(h, X, 2); } }
TEST(t70) {
  P(0) { send(h, X, 7, 1); receive(h, Y, 1); send(h, X, 8, 2); }
  P(1) { receive(h, X, 1); send(h, Y, 0, 1); receive(h, X, 2); }
}
#define LAMPORT(name, payload)                                                       \
  TEST(name) {                                                                       \
    P(0) {                                                                           \
      st(h, X, 0x80000000u, R);                                                      \
      st(h, FL, 1, REL);                                                             \
      wait_eq(h, G, 1, ACQ);                                                         \
      st(h, X, payload, R);                                                          \
    }                                                                                \
    P(1) {                                                                           \
      wait_eq(h, FL, 1, ACQ);                                                        \
      st(h, G, 1, REL);                                                              \
      while (ld(h, X, R) == 0x80000000u) rc_spin_hint();                             \
    }                                                                                \
  }
LAMPORT(t71, 0x80000000u)
LAMPORT(t72, 0u)

// 73-79: plain against atomic, same values, locks.
TEST(t73) { P(0) add(h, C, 1, R); P(1) *at(h, WRONG + 0x100) = *at(h, C); }
TEST(t74) { put(h, X, 1); }
TEST(t75) { st(h, X, 1, R); }
TEST(t76) { add(h, C, 1, R, AGT); }
INL void locked(char* h, int lock, int unlock) {
  for (u32 expected = 0; !__hip_atomic_compare_exchange_strong(at(h, C), &expected, 1u, lock, R, SYS); expected = 0)
    rc_spin_hint();
  put(h, X, *at(h, X) + 1);
  st(h, C, 0, unlock);
}
TEST(t77) { locked(h, ACQ, REL); }
TEST(t78) { locked(h, ACQ, R); }
TEST(t79) { locked(h, R, REL); }

// 80-90: dissemination and butterfly barriers.
#define ROUND 0x10000
INL void read_all(char* h, int rank, int n, int from, u32 plus) {
  for (int j = 0; j < n; j++) RD(from + 16 * j, u32(j) + plus);
}
INL void disseminate(char* h, int rank, int n, int rounds) {
  put(h, X + 16 * rank, rank + 1);
  for (int k = 0; k < rounds; k++) {
    st(h, ROUND + 0x100 * ((rank + (1 << k)) % n) + 16 * k, 1, REL);
    wait_eq(h, ROUND + 0x100 * rank + 16 * k, 1, ACQ);
  }
  read_all(h, rank, n, X, 1);
}
TEST(t80) { disseminate(h, rank, 3, 2); }
TEST(t81) { disseminate(h, rank, 5, 3); }
TEST(t82) { disseminate(h, rank, 6, 3); }
TEST(t83) { disseminate(h, rank, 7, 3); }
TEST(t84) { disseminate(h, rank, 3, 1); }
TEST(t85) { disseminate(h, rank, 5, 2); }
TEST(t86) { disseminate(h, rank, 7, 2); }
INL void butterfly(char* h, int rank, int n) {
  put(h, X + 16 * rank, rank + 1);
  for (int k = 0; (1 << k) < n; k++) {
    const int partner = rank ^ (1 << k);
    if (partner >= n) continue;
    st(h, ROUND + 0x100 * partner + 16 * k, 1, REL);
    wait_eq(h, ROUND + 0x100 * rank + 16 * k, 1, ACQ);
  }
  read_all(h, rank, n, X, 1);
}
TEST(t87) { butterfly(h, rank, 4); }
TEST(t88) { butterfly(h, rank, 3); }
TEST(t89) {
  for (u32 e = 1; e <= 2; e++) {
    put(h, X + 16 * rank + 0x400 * e, rank + e);
    for (int k = 0; k < 2; k++) {
      st(h, ROUND + 0x100 * ((rank + (1 << k)) % 3) + 16 * k, e, REL);
      wait_ge(h, ROUND + 0x100 * rank + 16 * k, e, ACQ);
    }
    read_all(h, rank, 3, X + 0x400 * e, e);
  }
}
TEST(t90) {
  for (u32 e = 1; e <= 2; e++)
    for (int k = 0; k < 2; k++) {
      st(h, ROUND + 0x100 * ((rank + (1 << k)) % 3), e * 10 + k, REL);
      wait_eq(h, ROUND + 0x100 * rank, e * 10 + k, ACQ);
    }
}

// 91-95: kernels one after another, and at once where nothing orders them.
TEST(write_x) { P(0) put(h, X, 7); }
TEST(read_x) { P(1) RD(X, 7); }
TEST(read_own_x) { P(0) RD(X, 7); }
TEST(write_and_read_x) { P(0) put(h, X, 7); P(1) RD(X, 7); }
TEST(reset_c) { P(0) put(h, C, 0); }
TEST(count_c) { P(0) add(h, C, 1, R, AGT); }
