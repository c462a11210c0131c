// The definitions of an object, and its table of entries. Included once, behind the source.
#pragma once
#include <utility>

extern "C" {
RC_HIDDEN rc_thread* rc_now = nullptr;
RC_HIDDEN rc_launch_record rc_record = {};
#ifdef RC_OBSERVED
RC_HIDDEN int rc_quiet = 0;
#endif

struct rc_tls_index {
  unsigned long module, offset;
};
// The compiler asks here for every `__shared__` variable; the object binds to this one.
RC_HIDDEN void* __tls_get_addr(rc_tls_index* index) { return rc_now->block_shared + index->offset; }
}

__attribute__((noinline)) void rc_call_host(unsigned what, const volatile void* address) {
  rc_now->host->event(rc_now, what, address, __builtin_return_address(0));
}

template <class... A, size_t... I>
static inline __attribute__((always_inline)) void rc_unpack(void (*f)(A...), void** p, std::index_sequence<I...>) {
  f(*static_cast<std::remove_reference_t<A>*>(p[I])...);
}
template <class... A>
static inline __attribute__((always_inline)) void rc_call(void (*f)(A...), void** p) {
  rc_unpack(f, p, std::index_sequence_for<A...>{});
}
template <class... A>
struct rc_parameters {
  static constexpr rc_parameter list[sizeof...(A) + 1] = {{sizeof(A), alignof(A)}..., {0, 0}};
};
template <class... A>
static constexpr rc_parameters<A...> rc_parameters_of(void (*)(A...)) {
  return {};
}
template <class... A>
static constexpr unsigned rc_parameter_count(void (*)(A...)) {
  return sizeof...(A);
}

#define RC_ENTRY(i, ...) \
  static void rc_run_##i(void** arguments) { rc_call(&__VA_ARGS__, arguments); }
#define RC_ENTRY_ROW(i, name, ...) \
  {name, rc_run_##i, decltype(rc_parameters_of(&__VA_ARGS__))::list, rc_parameter_count(&__VA_ARGS__)}

// Nothing here can run a GPU's instructions: whoever writes some is told so, at that line.
#define asm _Pragma("GCC error \"inline assembly cannot run on the CPU: keep it behind #if !defined(RC_CPU)\"") asm
