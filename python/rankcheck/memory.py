"""Where the bytes of an object are: anything with a data pointer, without importing its library."""

import ctypes


def locate(memory):
    """Address and size in bytes of contiguous, writable host memory.

    Takes torch tensors (and whatever has data_ptr), NumPy arrays (and whatever has
    __array_interface__) and writable buffers.
    """
    kind = type(memory).__module__.split(".")[0] + "." + type(memory).__name__
    if hasattr(memory, "data_ptr"):
        device = getattr(getattr(memory, "device", None), "type", "cpu")
        if device != "cpu":
            raise TypeError(refusal(kind, f"is on {device}"))
        if not memory.is_contiguous():
            raise TypeError(f"{kind} is not contiguous: a heap is one piece of memory")
        return memory.data_ptr(), memory.numel() * memory.element_size()
    if hasattr(memory, "__cuda_array_interface__"):
        raise TypeError(refusal(kind, "is device memory"))
    if hasattr(memory, "__array_interface__"):
        interface = memory.__array_interface__
        address, read_only = interface["data"]
        if read_only:
            raise TypeError(f"{kind} is read-only: the heap is filled before each call")
        if interface.get("strides") is not None:
            raise TypeError(f"{kind} is not contiguous: a heap is one piece of memory")
        size = int(interface["typestr"][2:])
        for length in interface["shape"]:
            size *= length
        return address, size
    try:
        view = memoryview(memory)
    except TypeError:
        raise TypeError(
            f"{kind} has no data pointer (data_ptr(), __array_interface__ or a buffer is needed)"
        ) from None
    if view.readonly or not view.c_contiguous:
        raise TypeError(f"{kind} is read-only or not contiguous: the heap is filled before each call")
    anchor = (ctypes.c_char * view.nbytes).from_buffer(memory) if view.nbytes else None
    return (ctypes.addressof(anchor) if anchor else 0), view.nbytes


def refusal(kind, why):
    return (
        f"{kind} {why}, which this version cannot open: take heaps of the library "
        "(case.logical(copy_in=..., copy_out=...) or case.rank()) and copy to and from the device"
    )


def writable(address, size):
    """A buffer over memory that somebody else keeps alive."""
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")
