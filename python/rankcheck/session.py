"""Sessions with the judge: which cases there are."""

import atexit
import ctypes
import faulthandler
import os
import signal

from .case import Case
from .library import checked, library

SESSIONS = {}


class Session:
    """Cases that some arguments of `rankcheck list` choose."""

    def __init__(self, chosen, alone):
        words = (["--alone"] if alone else []) + list(chosen)
        array = (ctypes.c_char_p * (len(words) + 1))(*[word.encode() for word in words], None)
        self.handle = checked(library().open(array))
        self.names = []
        while (name := library().name(self.handle, len(self.names))) is not None:
            self.names.append(name.decode())
        if "RANKCHECK_JUDGE" in os.environ:
            # Asked by rankcheck exec where a rank hangs: its stack is what people need.
            faulthandler.register(signal.SIGUSR2, all_threads=True)

    def close(self):
        if self.handle:
            library().close(self.handle)
            self.handle = None


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


def listed(value):
    """Nothing, one thing or several, as a list."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def arguments(paths, expression, text, ranks, kernels, seed):
    """Python's arguments as those of `rankcheck list`."""
    words = [os.fspath(path) for path in paths]
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
