// Sixteen-bit floats as storage: copies move their bits; arithmetic comes with the reductions.
#pragma once
struct __half { unsigned short bits; };
struct alignas(4) __half2 { __half x, y; };
typedef __half half;
typedef __half2 half2;
struct __nv_bfloat16 { unsigned short bits; };
struct alignas(4) __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat16 hip_bfloat16;
typedef __nv_bfloat16 __hip_bfloat16;
