"""Collectives in NumPy, written as kernels are: tile by tile, by persistent blocks, into peers' heaps.

Each is right, or wrong in the one way that `fault` names; the wrong ones are bugs that real kernels had.
"""

import numpy as np
from numpy.lib.stride_tricks import as_strided

DEFAULT_TILE = (8, 256)


def tiles(shape, tile):
    """Row and column slices of every tile of a matrix."""
    for row in range(0, shape[0], tile[0]):
        for column in range(0, shape[1], tile[1]):
            yield slice(row, min(row + tile[0], shape[0])), slice(column, min(column + tile[1], shape[1]))


def pick_tile(config, fault=None):
    """The launcher: the tile that was asked for, or the kernel's own."""
    if fault == "launch":
        return DEFAULT_TILE  # remapped: the explicit tile is lost on the way
    return config.tile or DEFAULT_TILE


def all_gather(rank, heaps, call, tile, fault=None):
    """Pushes this rank's input into every member's output, at this rank's place in the group."""
    source = heaps[rank].input
    rows, columns = source.shape
    place = rank if fault == "group_rank" else call.group_rank(rank)
    for peer in call.group:
        output = heaps[peer].output
        for r, c in tiles(source.shape, tile):
            target = slice(place * rows + r.start, place * rows + r.stop)
            if fault == "tail" and c.stop == columns and columns % tile[1]:
                c = slice(c.start, c.stop - 1)  # the last column of a partial tile
            if fault == "stride":
                # As if rows followed each other without padding.
                output = as_strided(output, strides=(columns * output.itemsize, output.itemsize))
            output[target, c] = source[r, c]


def all_reduce(rank, heaps, call, tile, fault=None):
    """Pulls every member's input and writes the sum to this rank's output."""
    output = heaps[rank].output
    for r, c in tiles(output.shape, tile):
        # Integers wrap in their own type. Floats are exact in any order, as long as partial sums are not rounded.
        wide = output.dtype if np.issubdtype(output.dtype, np.integer) else np.float64
        total = np.zeros(output[r, c].shape, dtype=wide)
        members = call.group[:-1] if fault == "tail" and c.stop == output.shape[1] else call.group
        for peer in members:
            total += heaps[peer].input[r, c].astype(wide)
        output[r, c] = total.astype(output.dtype)
