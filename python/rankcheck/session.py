"""Sessions with the judge: which cases there are."""

import atexit
import ctypes
import faulthandler
import os
import signal

from .case import Case
from .library import checked, failure, library

SESSIONS = {}


class Session:
    """Cases that some arguments of `rankcheck list` choose. `rank` is this process's, or None where it
    has all ranks."""

    def __init__(self, chosen, alone):
        words = (["--alone"] if alone else []) + list(chosen)
        array = (ctypes.c_char_p * (len(words) + 1))(*[word.encode() for word in words], None)
        self.handle = checked(library().open(array))
        names = iter(range(1 << 62))
        self.names = []
        for index in names:
            name = library().name(self.handle, index)
            if name is None:
                break
            self.names.append(name.decode())
        started = os.environ.get("RANKCHECK_JUDGE")
        self.rank = None if alone else rank_here(started)
        self.supervised = self.rank is not None
        if started and self.supervised:
            # Asked by rankcheck exec where a rank hangs: its stack is what people need.
            faulthandler.register(signal.SIGUSR2, all_threads=True)

    def close(self):
        if self.handle:
            library().close(self.handle)
            self.handle = None


def rank_here(started):
    """This process's rank, as the library sees it."""
    for rank, world in (
        ("RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMI_RANK", "PMI_SIZE"),
        ("SLURM_PROCID", "SLURM_NTASKS"),
    ):
        if rank in os.environ and world in os.environ:
            return int(os.environ[rank]) if started or int(os.environ[world]) > 1 else None
    return None


def session(chosen, alone=False):
    """One session for each list of arguments; they share this process's judge."""
    key = (tuple(chosen), alone)
    if key not in SESSIONS:
        SESSIONS[key] = Session(chosen, alone)
    return SESSIONS[key]


@atexit.register
def close_all():
    """Ends every session, so that the judge writes its reports."""
    for opened in SESSIONS.values():
        opened.close()
    SESSIONS.clear()


def arguments(paths, expression, text, ranks, kernels, seed):
    """Python's arguments as those of `rankcheck list`."""
    words = [os.fspath(path) for path in paths]
    listed = lambda value: [] if value is None else value if isinstance(value, (list, tuple)) else [value]
    for flag, value in (("-E", expression), ("-k", text), ("--seed", seed)):
        words += [] if value is None else [flag, str(value)]
    if ranks is not None:
        words += ["--ranks", ",".join(str(number) for number in listed(ranks))]
    for folder in listed(kernels):
        words += ["--kernels", os.fspath(folder)]
    return words


def cases(*paths, expression=None, text=None, ranks=None, kernels=None, seed=None, alone=False):
    """The cases of scenarios, one after another, for a program of its own: with all ranks in one process,
    or one rank a process where rankcheck exec, torchrun, mpirun or srun has started it. Under `rankcheck
    exec` the cases are those of its command line.

        for case in rankcheck.cases("scenarios/mine.yaml"):
            with case:
                ...
    """
    chosen = arguments(paths, expression, text, ranks, kernels, seed)
    opened = session(chosen, alone)
    for name in opened.names:
        yield Case(opened, name)
