"""A case on its way: heaps, calls, verdict."""

import ctypes
import json
import sys
from types import SimpleNamespace

from . import memory
from .heap import Heap
from .library import ALL, CallInfo, Launch, RankcheckError, RegionInfo, checked, failure, library, sized


class Failure(AssertionError):
    """A verdict that is not a pass; its text is the finding."""


class Unsupported(Exception):
    """A case that cannot be served, with the reason; not a pass."""


class Case:
    """One case of a scenario. It is opened at its first use, and ends the one before."""

    def __init__(self, session, name):
        self.name = name
        self.program = None
        self.replay = None
        self._session = session
        self._opened = False
        self._heaps = {}
        self._peers = {}
        self._at = (0, 0)
        self._copies = (None, None)
        self._finished = False

    def __repr__(self):
        return f"<Case {self.name}>"

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, kind, error, trace):
        """Ends the case. Where somebody else counts (rankcheck exec, or the judge of torchrun's ranks),
        a failure is told to them already, and the next case may follow."""
        if kind is Unsupported:
            return True
        if kind is Failure:
            return self.mine is not None
        if kind is None:
            try:
                self.finish()
            except Failure:
                if self.mine is None:
                    raise
        return False

    def open(self):
        """Opens the case; raises `Unsupported` where it cannot be served."""
        if self._opened:
            return self
        texts = [None if text is None else str(text).encode() for text in (self.program, self.replay)]
        code = checked(library().case(self._session.handle, self.name.encode(), *texts))
        if code == 1:
            raise Unsupported(str(failure()))
        self._opened = True
        return self

    @property
    def id(self):
        """The name without device and mode."""
        return self.name.split("::")[-1]

    @property
    def mine(self):
        """This process's rank; None where it has all ranks."""
        rank = self._info().rank
        return None if rank == ALL else rank

    @property
    def world(self):
        """How many ranks exist."""
        return self._info().world

    @property
    def dtype(self):
        """The element type: `bf16`."""
        return self._info().dtype.decode()

    @property
    def collective(self):
        """What must happen: `all_gather`."""
        return self._info().collective.decode()

    @property
    def heap_bytes(self):
        """Bytes that every rank's heap needs."""
        return self._info().heap_bytes

    @property
    def config(self):
        """What the scenario asks of the launch in the call at hand: `tile` (rows, columns), `blocks` and
        `threads`, None where it leaves them to the program."""
        info = self._info()
        tile = (info.tile_m, info.tile_n) if info.tile_m else None
        return SimpleNamespace(tile=tile, blocks=info.blocks or None, threads=info.threads or None)

    def problem(self):
        """All that is known about the case, as a dictionary."""
        self.open()
        return json.loads(checked(library().text(self._session.handle, b"describe")))

    def verdict(self):
        """The result so far, for people."""
        self.open()
        return checked(library().text(self._session.handle, b"verdict")).decode()

    def json(self):
        """The result so far, `rankcheck.run/1`."""
        self.open()
        return json.loads(checked(library().text(self._session.handle, b"json")))

    def logical(self, allocate=None, *, copy_in=None, copy_out=None):
        """Heaps of all ranks in this process, by rank.

        `allocate` makes one heap: `np.empty`, `torch.empty`, or any function that takes a number of
        bytes and returns host memory with a data pointer. Without it the heaps are memory that the
        judge shares, and nothing is copied. For device memory, `copy_in(rank, buffer)` is called when
        a heap was filled and `copy_out(rank, buffer)` before it is judged.
        """
        if self.mine is not None:
            raise RankcheckError(f"this process is rank {self.mine} of several: use case.rank()")
        self._copies = (copy_in, copy_out)
        return [self._heap(rank, allocate_one(allocate, self.heap_bytes)) for rank in range(self.world)]

    def rank(self, base=None, size=None, peer_bases=None):
        """This process's heap, where each rank is a process.

        `base` is memory with a data pointer, or an address with `size` in bytes; `peer_bases` says
        where this rank finds every rank's heap (its own entry is `base`). Without `base` the heap is
        memory that the judge shares, and `bases` are mappings of the other ranks' heaps.
        """
        mine = self.mine
        if mine is None:
            raise RankcheckError(
                "this process has all ranks: use case.logical(), or start it with rankcheck exec or torchrun"
            )
        if isinstance(base, int):
            if size is None:
                raise RankcheckError("an address needs a size: case.rank(base, size, peer_bases)")
            located = (base, size)
        else:
            located = None if base is None else memory.locate(base)
        return self._heap(mine, base, located, peer_bases)

    def _heap(self, rank, owner=None, located=None, peers=None):
        self.open()
        if rank in self._heaps:
            raise RankcheckError(f"rank {rank} has a heap already")
        address, size = (None, 0)
        if owner is not None:
            address, size = located or memory.locate(owner)
        table = None
        if peers is not None:
            entries = [int(base) for base in peers]
            if len(entries) != self.world:
                raise RankcheckError(f"{len(entries)} peer bases for {self.world} ranks")
            table = (ctypes.c_uint64 * len(entries))(*entries)
        handle = self._session.handle
        address = checked(library().heap(handle, rank, address, size, table))
        heap = Heap(self, rank, address, size or self.heap_bytes, owner)
        heap._bases = None if peers is None else entries
        self._heaps[rank] = heap
        return heap

    def bases(self):
        """By rank: where its heap is in this process (0: another process's own memory)."""
        if self.mine is None:
            return [self._heaps[rank].base for rank in range(self.world)]
        mine = self._heaps[self.mine]
        if mine._owner is not None:
            return [mine.base if rank == mine.rank else 0 for rank in range(self.world)]
        handle = self._session.handle
        return [checked(library().heap(handle, rank, None, 0, None)) for rank in range(self.world)]

    def peer(self, rank):
        """The heap of another rank's process, where all of them are memory that the judge shares."""
        if rank not in self._peers:
            self._peers[rank] = Heap(self, rank, self.bases()[rank], self.heap_bytes, None)
        return self._peers[rank]

    def calls(self):
        """Fills and poisons every heap and yields the call, for every call in every order of ranks.

        After a wrong call the next order begins; `Failure` is raised behind the last one.
        """
        self.open()
        info = self._info()
        for order in range(info.orders):
            for index in range(info.calls):
                self._at = (order, index)
                checked(library().fill(self._session.handle, order, index))
                self._copy(self._copies[0])
                call = Call(self, order, index)
                yield call
                if call.right is None:
                    raise RankcheckError(f"call {index} was not judged: call.judge() ends its loop body")
                if not call.right:
                    break
        self.finish()

    def finish(self):
        """Raises `Failure` where the verdict is not a pass, and where calls were not judged."""
        if self._finished:
            return
        if not self._opened:
            raise Failure(f"FAIL {self.name}\n  the case was never opened: loop over case.calls()")
        self._finished = True
        text = self.verdict()
        if not text.startswith("PASS "):
            raise Failure(text)

    def _copy(self, copy):
        if copy is not None:
            for heap in self._heaps.values():
                copy(heap.rank, heap.bytes)

    def _info(self):
        self.open()
        order, index = self._at
        info = sized(CallInfo)
        checked(library().call(self._session.handle, order, index, ctypes.byref(info)))
        return info

    def region_info(self, rank, name):
        """Where a region lies in a rank's heap in the call at hand."""
        info = sized(RegionInfo)
        name = name.encode()
        checked(library().region(self._session.handle, self._at[1], rank, name, ctypes.byref(info)))
        return info


class Call:
    """One call of a case: `index`, `shape` (rows, columns), `group` (ranks by group rank), `root` (a
    group rank), `op`. `right` is None until it is judged."""

    def __init__(self, case, order, index):
        info = case._info()
        self.index = index
        self.order = order
        self.shape = (info.m, info.n)
        self.group = list(info.group[: info.group_size])
        self.root = info.root
        self.op = info.op.decode()
        self.right = None
        self._case = case
        self._run = list(info.run[: info.run_size])

    def __repr__(self):
        return f"<Call {self.index} of {self._case.name}>"

    @property
    def counts(self):
        """Rows of an uneven all_to_all by source and destination group rank; None where it is even."""
        return self._case.problem()["calls"][self.index]["details"]["counts"] or None

    def group_rank(self, rank):
        """The place of a rank in the group; None where it takes no part."""
        return self.group.index(rank) if rank in self.group else None

    def rank_order(self):
        """The ranks that this process runs, in the order in which it must: all of the group, or its own
        rank where it is in the group."""
        return list(self._run)

    def launched(self, rank, *, tile=None, blocks=None, threads=None, group_size=None, entry=None):
        """Says what really ran on a rank. What the scenario asks for must be said, and must agree."""
        launch = sized(Launch)
        launch.tile_m, launch.tile_n = tile or (0, 0)
        launch.blocks = blocks or 0
        launch.threads = threads or 0
        launch.group_size = group_size or 0
        launch.entry = None if entry is None else str(entry).encode()
        checked(library().launched(self._case._session.handle, rank, ctypes.byref(launch)))

    def judge(self):
        """Has every byte of every rank's heap judged; whether all of it is right."""
        if self.right is None:
            self._case._copy(self._case._copies[1])
            self.right = bool(checked(library().judge(self._case._session.handle)))
        return self.right


def allocate_one(allocate, nbytes):
    """One heap of the caller's; those who take a dtype are asked for bytes."""
    if allocate is None:
        return None
    for name in ("torch", "numpy"):
        module = sys.modules.get(name)
        if module is not None and getattr(module, getattr(allocate, "__name__", ""), None) is allocate:
            return allocate(nbytes, dtype=module.uint8)
    return allocate(nbytes)
