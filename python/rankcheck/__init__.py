"""Has kernels judged that your own Python program launches: every byte of every rank's heap.

    @rankcheck.scenario("scenarios/tiles/partial_tiles.yaml")
    def test_all_gather(case):
        heaps = case.logical(np.empty)
        for call in case.calls():
            for r in call.rank_order():
                launch(heaps[r].input, heaps[r].output, heaps[r].bases, config=case.config)
                call.launched(r, tile=(8, 256), blocks=64)
            call.judge()

`scenario` makes pytest tests, one a case. `cases` is for programs: of one process with all ranks, or
of one process a rank (rankcheck exec, torchrun, mpirun). Nothing here needs NumPy or torch.
"""

from .case import Call, Case, Failure, Unsupported
from .heap import Heap
from .library import RankcheckError
from .session import cases

__all__ = ["Call", "Case", "Failure", "Heap", "RankcheckError", "Unsupported", "cases", "scenario"]


def scenario(*paths, expression=None, text=None, ranks=None, kernels=None, seed=None):
    """Makes a pytest function one test a case; it must have a parameter `case`.

    Arguments are those of `rankcheck list`: scenario files, folders or embedded themes; `expression`
    is its -E, `text` its -k; `ranks` is a number or a list, `kernels` a folder or a list.
    """
    import pytest

    from .session import arguments

    chosen = arguments(paths, expression, text, ranks, kernels, seed)
    return pytest.mark.rankcheck_scenario(chosen)
