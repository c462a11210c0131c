// Floats narrower than 32 bits, in software: every operation is done in float and rounded once to
// nearest, ties to even. The vendors' types and conversion functions by their own names.
#pragma once

// STYLE 0: IEEE 754 (infinity, NaN); 1: FN (all ones is NaN, no infinity); 2: FNUZ (one NaN where
// negative zero would be). Eight-bit formats saturate, as the vendors' constructors do.
template <class Bits, int EXPONENT, int MANTISSA, int BIAS, int STYLE>
struct rc_small_float {
  Bits bits;
  static constexpr unsigned SIGN = 1u << (EXPONENT + MANTISSA);
  static constexpr unsigned INFINITE = ((1u << EXPONENT) - 1) << MANTISSA;
  static constexpr unsigned LAST = STYLE == 0 ? INFINITE - 1 : STYLE == 1 ? SIGN - 2 : SIGN - 1;
  static constexpr unsigned NOT_A_NUMBER = STYLE == 0 ? INFINITE | 1u << (MANTISSA - 1) : STYLE == 1 ? SIGN - 1 : SIGN;

  rc_small_float() = default;
  rc_small_float(float value) : bits(Bits(encode(value))) {}
  rc_small_float(double value) : rc_small_float(to_odd(value)) {}
  rc_small_float(int value) : rc_small_float(double(value)) {}
  operator float() const { return decode(bits); }

  // A float that rounds as the double does: the last bit says whether anything was cut off.
  static float to_odd(double value) {
    float near = float(value);
    if (double(near) == value || value != value) return near;
    unsigned u;
    __builtin_memcpy(&u, &near, 4);
    const bool away = (double(near) > value) == (value > 0);
    if (away) u--;
    u |= 1;
    __builtin_memcpy(&near, &u, 4);
    return near;
  }
  static unsigned encode(float value) {
    unsigned u;
    __builtin_memcpy(&u, &value, 4);
    const unsigned sign = u >> 31 ? SIGN : 0, magnitude = u & 0x7fffffff;
    if (magnitude > 0x7f800000) return STYLE == 2 ? NOT_A_NUMBER : NOT_A_NUMBER | sign;
    unsigned code;
    if (magnitude == 0x7f800000) {
      code = LAST + 1;
    } else {
      // value = significand * 2^exponent; the target's unit there is 2^unit.
      const int biased = int(magnitude >> 23);
      unsigned significand = biased ? (magnitude & 0x7fffff) | 0x800000 : magnitude;
      const int exponent = (biased ? biased : 1) - 150;
      int top = significand ? exponent + 31 - __builtin_clz(significand) : -1000;
      if (top < 1 - BIAS) top = 1 - BIAS;
      const int shift = top - MANTISSA - exponent;
      unsigned rounded = 0;
      if (shift <= 0) {
        rounded = significand << -shift;
      } else if (shift <= 25) {
        const unsigned half = 1u << (shift - 1), rest = significand & ((1u << shift) - 1);
        rounded = significand >> shift;
        rounded += rest > half || (rest == half && (rounded & 1));
      }
      code = (unsigned(top + BIAS - 1) << MANTISSA) + rounded;
    }
    if (code > LAST) code = sizeof(Bits) == 1 ? LAST : INFINITE;
    if (STYLE == 2 && code == 0) return 0;
    return code | sign;
  }
  static float decode(unsigned code) {
    const unsigned magnitude = code & (SIGN - 1);
    float value;
    unsigned u;
    if (STYLE == 2 ? code == SIGN : magnitude > (STYLE == 0 ? INFINITE : LAST)) {
      u = 0x7fc00000 | magnitude << (23 - MANTISSA);
    } else if (STYLE == 0 && magnitude == INFINITE) {
      u = 0x7f800000;
    } else {
      const unsigned biased = magnitude >> MANTISSA;
      const float fraction = float(magnitude & ((1u << MANTISSA) - 1));
      const float scaled = biased ? fraction + float(1u << MANTISSA) : fraction;
      value = float(double(scaled) * power(int(biased ? biased : 1) - BIAS - MANTISSA));
      __builtin_memcpy(&u, &value, 4);
    }
    u = (u & 0x7fffffff) | (code & SIGN ? 0x80000000u : 0);
    __builtin_memcpy(&value, &u, 4);
    return value;
  }
  static double power(int exponent) {
    unsigned long long u = (unsigned long long)(exponent + 1023) << 52;
    double d;
    __builtin_memcpy(&d, &u, 8);
    return d;
  }
  friend rc_small_float operator+(rc_small_float a, rc_small_float b) { return float(a) + float(b); }
  friend rc_small_float operator-(rc_small_float a, rc_small_float b) { return float(a) - float(b); }
  friend rc_small_float operator*(rc_small_float a, rc_small_float b) { return float(a) * float(b); }
  friend rc_small_float operator/(rc_small_float a, rc_small_float b) { return float(a) / float(b); }
  friend rc_small_float operator-(rc_small_float a) { a.bits ^= Bits(SIGN); return a; }
  friend bool operator==(rc_small_float a, rc_small_float b) { return float(a) == float(b); }
  friend bool operator!=(rc_small_float a, rc_small_float b) { return float(a) != float(b); }
  friend bool operator<(rc_small_float a, rc_small_float b) { return float(a) < float(b); }
  friend bool operator>(rc_small_float a, rc_small_float b) { return float(a) > float(b); }
  friend bool operator<=(rc_small_float a, rc_small_float b) { return float(a) <= float(b); }
  friend bool operator>=(rc_small_float a, rc_small_float b) { return float(a) >= float(b); }
  rc_small_float& operator+=(rc_small_float b) { return *this = *this + b; }
  rc_small_float& operator*=(rc_small_float b) { return *this = *this * b; }
};

typedef rc_small_float<unsigned short, 5, 10, 15, 0> __half;
typedef rc_small_float<unsigned short, 8, 7, 127, 0> __nv_bfloat16;
typedef rc_small_float<unsigned char, 4, 3, 7, 1> __nv_fp8_e4m3;
typedef rc_small_float<unsigned char, 5, 2, 15, 0> __nv_fp8_e5m2;
typedef rc_small_float<unsigned char, 4, 3, 8, 2> __hip_fp8_e4m3_fnuz;
typedef rc_small_float<unsigned char, 5, 2, 16, 2> __hip_fp8_e5m2_fnuz;
typedef __half half;
typedef __half __half_raw;
typedef __nv_fp8_e4m3 __hip_fp8_e4m3;
typedef __nv_fp8_e5m2 __hip_fp8_e5m2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat16 hip_bfloat16;
typedef __nv_bfloat16 __hip_bfloat16;
struct alignas(4) __half2 { __half x, y; };
struct alignas(4) __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __half2 half2;
typedef __nv_bfloat162 __hip_bfloat162;

// What `dtype.type` in a manifest names.
typedef __half rc_f16;
typedef __nv_bfloat16 rc_bf16;
typedef __nv_fp8_e4m3 rc_f8e4m3fn;
typedef __nv_fp8_e5m2 rc_f8e5m2;
typedef __hip_fp8_e4m3_fnuz rc_f8e4m3fnuz;
typedef __hip_fp8_e5m2_fnuz rc_f8e5m2fnuz;

static inline float __half2float(__half h) { return h; }
static inline __half __float2half(float f) { return f; }
static inline __half __float2half_rn(float f) { return f; }
static inline __half __hadd(__half a, __half b) { return a + b; }
static inline __half __hmul(__half a, __half b) { return a * b; }
static inline __half2 __hadd2(__half2 a, __half2 b) { return {a.x + b.x, a.y + b.y}; }
static inline float2 __half22float2(__half2 h) { return {h.x, h.y}; }
static inline __half2 __float22half2_rn(float2 f) { return {f.x, f.y}; }
static inline float __bfloat162float(__nv_bfloat16 h) { return h; }
static inline __nv_bfloat16 __float2bfloat16(float f) { return f; }
static inline __nv_bfloat16 __float2bfloat16_rn(float f) { return f; }
static inline __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return a + b; }
static inline __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return a * b; }
static inline __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x + b.x, a.y + b.y}; }
