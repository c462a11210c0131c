// rc_types.h: the element types of reductions by one name each, on HIP, CUDA and the CPU.
//
//   rc_f16, rc_bf16, rc_f8*     the vendor's type (what `dtype.type` in a manifest names)
//
// CUDA has no fnuz types: reductions of them are unsupported there.
#pragma once

#if defined(RC_CPU)
#include "cuda_fp8.h"
#elif defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
typedef __half rc_f16;
typedef __hip_bfloat16 rc_bf16;
typedef __hip_fp8_e4m3 rc_f8e4m3fn;
typedef __hip_fp8_e5m2 rc_f8e5m2;
typedef __hip_fp8_e4m3_fnuz rc_f8e4m3fnuz;
typedef __hip_fp8_e5m2_fnuz rc_f8e5m2fnuz;
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
typedef __half rc_f16;
typedef __nv_bfloat16 rc_bf16;
typedef __nv_fp8_e4m3 rc_f8e4m3fn;
typedef __nv_fp8_e5m2 rc_f8e5m2;
#endif
