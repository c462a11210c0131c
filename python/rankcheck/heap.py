"""One rank's heap, and its regions in the kind of array that the heap is."""

import sys

from . import memory

# What has no type of its own in NumPy is shown as unsigned integers of its size.
NUMPY = {
    "u8": "uint8", "i8": "int8", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2", "f8e5m2fnuz": "float8_e5m2fnuz",
}


class Heap:
    """A rank's heap. `input`, `output` and `workspace(name)` are views for the call at hand; `base` is
    the heap's address and `bases` the table of every rank's, as this rank sees them."""

    def __init__(self, case, rank, address, nbytes, owner):
        self.rank = rank
        self.base = address
        self.nbytes = nbytes
        self._case = case
        self._owner = owner
        self._bases = None

    def __repr__(self):
        return f"<Heap of rank {self.rank} at {self.base:#x}, {self.nbytes} bytes>"

    @property
    def bytes(self):
        """The whole heap, as a buffer."""
        return memory.writable(self.base, self.nbytes)

    @property
    def input(self):
        return self.region("input")

    @property
    def output(self):
        return self.region("output")

    def workspace(self, name):
        """A workspace's bytes, as the manifest declares it."""
        return self.region("workspace." + name)

    @property
    def bases(self):
        """By rank: the address of its heap. A torch tensor or NumPy array of 64-bit integers where the
        heap is one, else a list."""
        bases = self._bases if self._bases is not None else self._case.bases()
        if is_torch(self._owner):
            return sys.modules["torch"].tensor(bases, dtype=sys.modules["torch"].int64)
        numpy = imported("numpy")
        return numpy.array(bases, dtype=numpy.uint64) if numpy else list(bases)

    def region(self, name):
        """A region as rows and columns of elements: a torch tensor where the heap is one, else a NumPy
        array, else (without NumPy) a buffer from element (0, 0) to the region's last byte."""
        info = self._case.region_info(self.rank, name)
        dtype = self._case.dtype if info.element_bytes > 1 or "workspace" not in name else "u8"
        shape = (info.rows, info.columns)
        if is_torch(self._owner):
            return torch_view(self._owner, info, dtype, shape)
        numpy = imported("numpy")
        if numpy is None:
            end = info.storage_offset + info.storage_bytes
            return self.bytes[info.offset : end]
        strides = (info.row_stride * info.element_bytes, info.element_bytes)
        return numpy.ndarray(
            shape, numpy_dtype(numpy, dtype, info.element_bytes), self.bytes, info.offset, strides
        )


def imported(name):
    """A module that is installed, else None."""
    try:
        return __import__(name)
    except ImportError:
        return None


def is_torch(owner):
    return type(owner).__module__.split(".")[0] == "torch"


def numpy_dtype(numpy, name, size):
    wanted = NUMPY.get(name, "")
    if hasattr(numpy, wanted):
        return numpy.dtype(wanted)
    narrow = imported("ml_dtypes")
    if narrow is not None and hasattr(narrow, wanted):
        return numpy.dtype(getattr(narrow, wanted))
    return numpy.dtype(f"u{size}")


def torch_view(owner, info, dtype, shape):
    torch = sys.modules["torch"]
    element = getattr(torch, NUMPY.get(dtype, ""), None)
    if element is None:
        raise TypeError(f"torch has no type for elements of {dtype}: use heap.bytes")
    flat = owner.view(-1).view(torch.uint8)
    size = info.element_bytes
    whole = flat[: flat.numel() // size * size].view(element)
    return torch.as_strided(whole, shape, (info.row_stride, 1), info.offset // size)
