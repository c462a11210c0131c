"""An all-gather of real processes: each rank pushes its input into the heaps of all others.

    rankcheck exec --ranks 4 examples/numpy/all_gather.yaml -- python examples/ranks/all_gather.py

The same program runs under torchrun and mpirun, which start its ranks; then rank 0 starts the judge.
"""

import sys
from pathlib import Path

import rankcheck

SCENARIO = Path(__file__).parent.parent / "numpy" / "all_gather.yaml"


def all_gather(mine, case, call):
    rows, place = call.shape[0], call.group_rank(mine.rank)
    for peer in call.group:
        case.peer(peer).output[place * rows : (place + 1) * rows] = mine.input


def main():
    for case in rankcheck.cases(SCENARIO):
        with case:
            mine = case.rank()
            for call in case.calls():
                for rank in call.rank_order():
                    all_gather(mine, case, call)
                    call.launched(rank, tile=case.config.tile)
                call.judge()


if __name__ == "__main__":
    sys.exit(main())
