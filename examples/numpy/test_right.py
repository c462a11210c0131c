"""Two right kernels. Run it: python -m pytest examples/numpy/test_right.py"""

import numpy as np
import rankcheck
from kernels import all_gather, all_reduce, pick_tile


@rankcheck.scenario("all_gather.yaml")
def test_all_gather(case):
    heaps = case.logical(np.empty)
    for call in case.calls():
        tile = pick_tile(case.config)
        for r in call.rank_order():
            all_gather(r, heaps, call, tile)
            call.launched(r, tile=tile)
        call.judge()


@rankcheck.scenario("all_reduce.yaml")
def test_all_reduce(case):
    heaps = case.logical()  # memory that the judge shares: nothing is copied
    for call in case.calls():
        for r in call.rank_order():
            all_reduce(r, heaps, call, (8, 256))
            call.launched(r)
        call.judge()
