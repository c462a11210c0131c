"""A Triton all-gather over symmetric heaps, on the CPU through Triton's interpreter.

    TRITON_INTERPRET=1 python -m pytest examples/triton/test_all_gather.py

The launcher picks the tile; `call.launched` says which one the kernel really got.
"""

import os

import pytest
import rankcheck

os.environ.setdefault("TRITON_INTERPRET", "1")
torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
import triton.language as tl  # noqa: E402


@triton.jit
def translate(pointer, heap_bases, mine, peer):
    """The same place in a peer's heap."""
    offset = pointer.to(tl.int64, bitcast=True) - tl.load(heap_bases + mine)
    return (tl.load(heap_bases + peer) + offset).to(pointer.dtype, bitcast=True)


@triton.jit
def all_gather(
    source, target, heap_bases, group, mine, place, m, n, source_stride, target_stride,
    SIZE: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, BLOCKS: tl.constexpr,
):
    across = tl.cdiv(n, TILE_N)
    for tile in range(tl.program_id(0), tl.cdiv(m, TILE_M) * across, BLOCKS):
        rows = tile // across * TILE_M + tl.arange(0, TILE_M)[:, None]
        columns = tile % across * TILE_N + tl.arange(0, TILE_N)[None, :]
        inside = (rows < m) & (columns < n)
        values = tl.load(source + rows * source_stride + columns, mask=inside)
        for member in range(SIZE):
            there = translate(target, heap_bases, mine, tl.load(group + member))
            tl.store(there + (place * m + rows) * target_stride + columns, values, mask=inside)


@rankcheck.scenario("all_gather.yaml")
def test_all_gather(case):
    heaps = case.logical(torch.empty)
    for call in case.calls():
        tile, blocks = case.config.tile or (8, 128), case.config.blocks or 4
        group = torch.tensor(call.group, dtype=torch.int32)
        for r in call.rank_order():
            source, target = heaps[r].input, heaps[r].output
            all_gather[(blocks,)](
                source, target, heaps[r].bases, group, r, call.group_rank(r), *call.shape,
                source.stride(0), target.stride(0),
                SIZE=len(call.group), TILE_M=tile[0], TILE_N=tile[1], BLOCKS=blocks,
            )  # fmt: skip
            call.launched(r, tile=tile, blocks=blocks, group_size=len(call.group), entry="all_gather")
        call.judge()
