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

// Accesses that are not aligned for their type and indices that no array has: the compiler calls
// these in place of its own run time, which is not linked.
struct rc_check_type {
  unsigned short kind, info;
  char name[1];
};
struct rc_check_line {
  const char* file;
  unsigned line, column;
};
struct rc_mismatch {
  rc_check_line line;
  const rc_check_type* type;
  unsigned char log_alignment, access;  // 0 load, 1 store; others take addresses only
};
struct rc_index {
  rc_check_line line;
  const rc_check_type *array, *index;
};
#define RC_CHECK extern "C" RC_HIDDEN __attribute__((noinline, no_sanitize("thread")))
RC_CHECK void __ubsan_handle_type_mismatch_v1(const rc_mismatch* what, unsigned long pointer) {
  if (!rc_now || what->access > 1) return;
  const rc_violation violation = {1u << what->log_alignment, what->access, pointer, what->type->name};
  rc_now->host->event(rc_now, RC_MISALIGNED | RC_REPORT_ONLY, &violation, __builtin_return_address(0));
}
RC_CHECK void __ubsan_handle_out_of_bounds(const rc_index* what, unsigned long index) {
  if (!rc_now) return;
  const rc_violation violation = {0, 0, index, what->array->name};
  rc_now->host->event(rc_now, RC_INDEX | RC_REPORT_ONLY, &violation, __builtin_return_address(0));
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
  static void rc_run_##i(void** arguments) { \
    rc_call(&__VA_ARGS__, arguments);         \
    rc_depart();                              \
  }
#define RC_ENTRY_ROW(i, name, ...) \
  {name, rc_run_##i, decltype(rc_parameters_of(&__VA_ARGS__))::list, rc_parameter_count(&__VA_ARGS__)}
