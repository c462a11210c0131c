"""librankcheck through ctypes: the structures and functions of rankcheck_host.h."""

import ctypes
import functools
import os
from ctypes import POINTER, c_char, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

RANKS = 64
ALL = 0xFFFFFFFF
NAME = 32


class RankcheckError(Exception):
    """Something that keeps rankcheck from judging: a wrong argument, a missing judge."""


class CallInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("world", c_uint32),
        ("calls", c_uint32),
        ("orders", c_uint32),
        ("group_size", c_uint32),
        ("group", c_uint32 * RANKS),
        ("run_size", c_uint32),
        ("run", c_uint32 * RANKS),
        ("rank", c_uint32),
        ("root", c_uint32),
        ("element_bytes", c_uint32),
        ("blocks", c_uint32),
        ("threads", c_uint32),
        ("tile_m", c_uint64),
        ("tile_n", c_uint64),
        ("m", c_uint64),
        ("n", c_uint64),
        ("heap_bytes", c_uint64),
        ("collective", c_char * NAME),
        ("dtype", c_char * NAME),
        ("op", c_char * NAME),
    ]


class RegionInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("element_bytes", c_uint32),
        ("offset", c_uint64),
        ("rows", c_uint64),
        ("columns", c_uint64),
        ("row_stride", c_uint64),
        ("storage_offset", c_uint64),
        ("storage_bytes", c_uint64),
    ]


class Launch(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("blocks", c_uint32),
        ("threads", c_uint32),
        ("group_size", c_uint32),
        ("tile_m", c_uint64),
        ("tile_n", c_uint64),
        ("entry", c_char_p),
    ]


def sized(structure):
    """A structure that says how large it is."""
    value = structure()
    value.size = ctypes.sizeof(structure)
    return value


# name: (result, arguments)
FUNCTIONS = {
    "error": (c_char_p, []),
    "open": (c_void_p, [POINTER(c_char_p)]),
    "close": (None, [c_void_p]),
    "name": (c_char_p, [c_void_p, c_size_t]),
    "case": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p]),
    "call": (c_int, [c_void_p, c_uint32, c_uint32, POINTER(CallInfo)]),
    "region": (c_int, [c_void_p, c_uint32, c_uint32, c_char_p, POINTER(RegionInfo)]),
    "heap": (c_void_p, [c_void_p, c_uint32, c_void_p, c_uint64, POINTER(c_uint64)]),
    "fill": (c_int, [c_void_p, c_uint32, c_uint32]),
    "launched": (c_int, [c_void_p, c_uint32, POINTER(Launch)]),
    "judge": (c_int, [c_void_p]),
    "text": (c_char_p, [c_void_p, c_char_p]),
}


def candidates():
    """Where the library may be, best first: named, installed with the package, built in a checkout."""
    named = os.environ.get("RANKCHECK_LIBRARY")
    if named:
        return [Path(named)]
    here = Path(__file__).resolve().parent
    built = [here.parent.parent / "target" / profile for profile in ("release", "debug")]
    return [here / "lib" / "librankcheck.so"] + [folder / "librankcheck_host.so" for folder in built]


@functools.lru_cache(maxsize=None)
def library():
    """The functions, loaded once, without their prefix."""
    places = candidates()
    path = next((path for path in places if path.is_file()), None)
    try:
        loaded = ctypes.CDLL(str(path) if path else "librankcheck.so.0")
    except OSError as error:
        searched = ", ".join(map(str, places))
        raise RankcheckError(
            f"no librankcheck ({error}); searched {searched} "
            "(install the wheel, run `cargo build --release -p guest -p rankcheck`, or set RANKCHECK_LIBRARY)"
        ) from None
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(loaded, "rankcheck_" + name)
        function.restype, function.argtypes = result, arguments
        setattr(loaded, name, function)
    return loaded


def failure():
    """The error that the last call of this thread left."""
    return RankcheckError((library().error() or b"").decode())


def checked(value):
    """The result of a call, unless it failed."""
    if value is None or value == -1:
        raise failure()
    return value
