"""Four wrong kernels, each a bug that real ones had: every test here fails, and says where and why.

Run it: python -m pytest examples/numpy/test_wrong.py
"""

import numpy as np
import rankcheck
from kernels import all_gather, all_reduce, pick_tile


def run_all_gather(case, fault):
    heaps = case.logical(np.empty)
    for call in case.calls():
        tile = pick_tile(case.config, fault)
        for r in call.rank_order():
            all_gather(r, heaps, call, tile, fault)
            call.launched(r, tile=tile)
        call.judge()


@rankcheck.scenario("all_gather.yaml", expression="test(w4) & test(f16) & test(9x257) & test(tdefault) & test(g0+1x4)")
def test_tail(case):
    run_all_gather(case, "tail")


@rankcheck.scenario("all_gather.yaml", expression="test(w2) & test(f32) & test(9x257) & test(tdefault) & test(g0+1x2)")
def test_stride(case):
    run_all_gather(case, "stride")


@rankcheck.scenario("all_gather.yaml", expression="test(w4) & test(f32) & test(7x255) & test(tdefault) & test(g3.2.1.0)")
def test_group_rank(case):
    run_all_gather(case, "group_rank")


@rankcheck.scenario("all_gather.yaml", expression="test(w2) & test(f16) & test(7x255) & test(t4x64) & test(g0+1x2)")
def test_launch(case):
    run_all_gather(case, "launch")


@rankcheck.scenario("all_reduce.yaml", expression="test(w4) & test(f32) & test(g0+1x4)")
def test_all_reduce_tail(case):
    heaps = case.logical()
    for call in case.calls():
        for r in call.rank_order():
            all_reduce(r, heaps, call, (8, 256), "tail")
            call.launched(r)
        call.judge()
