#!/usr/bin/env python3
"""Checksums of ml_dtypes' fp8 conversions, for crates/collectives/tests/fp8.rs.

Needs numpy and ml_dtypes (pip install numpy ml_dtypes). Prints Rust literals: for each format the
FNV-1a hash of all 256 codes decoded to f32, of all 2^16 f16 and bf16 bit patterns encoded, and of
10^6 f32 bit patterns encoded (i * 2654435761 + 12345 mod 2^32). Encoded NaNs count as 0xaa, decoded ones as 0x7fc00000.
"""
import ml_dtypes
import numpy as np

FORMATS = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]


def fnv(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def encoded(values, dtype) -> bytes:
    codes = values.astype(dtype)
    bits = codes.view(np.uint8).copy()
    bits[np.isnan(codes.astype(np.float32))] = 0xAA
    return bits.tobytes()


np.seterr(all="ignore")
words = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
floats = (np.arange(10**6, dtype=np.uint64) * 2654435761 + 12345).astype(np.uint32).view(np.float32)
for name in FORMATS:
    dtype = np.dtype(getattr(ml_dtypes, name))
    decoded = np.arange(256, dtype=np.uint32).astype(np.uint8).view(dtype).astype(np.float32)
    bits = decoded.view(np.uint32).copy()
    bits[np.isnan(decoded)] = 0x7FC00000
    sums = [
        fnv(bits.astype("<u4").tobytes()),
        fnv(encoded(words.view(np.float16), dtype)),
        fnv(encoded(words.view(ml_dtypes.bfloat16).astype(np.float32), dtype)),
        fnv(encoded(floats, dtype)),
    ]
    print(name, "[" + ", ".join(f"0x{s:016x}" for s in sums) + "],")
