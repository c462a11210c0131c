#!/usr/bin/env python3
"""Works out with NumPy what every heap must hold after a call, and compares all of its bytes.

Reads what `oracle layouts FOLDER` wrote: the numbers of each layout, the heaps before the call, and
the heaps after it as the reference has them, and as a reference with a planted fault has them.
Nothing of the reference is used: matrices are strided views of the heaps, and results come from
NumPy's stacking, splitting and reducing. Every planted fault must be noticed.

Exit codes: 0 all agree, 1 something differs or a fault went unnoticed, 3 there is no NumPy.
"""
import json
import sys
from collections import Counter
from pathlib import Path

try:
    import numpy as np
except ImportError:
    sys.exit(print("layouts: no NumPy for this Python (Debian: python3-numpy)", file=sys.stderr) or 3)

NATIVE = {"u8": np.uint8, "i8": np.int8, "i32": np.int32, "i64": np.int64, "f16": np.float16,
          "f32": np.float32, "f64": np.float64}
RAW = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def matrix(heap, start, rows, columns, layout, dtype):
    """A (rows, columns) view of a heap, as the layout lays it."""
    item = np.dtype(dtype).itemsize
    first = start + layout["offset_elements"] * item
    row_bytes = (columns + layout["pad_columns"]) * item
    return np.ndarray((rows, columns), dtype, buffer=heap, offset=first, strides=(row_bytes, item))


def combined(parts, op, scalars):
    """The element-wise combination of all members' inputs; the data are exact in any order."""
    parts = np.stack(parts)
    with np.errstate(over="ignore"):
        if op == "premul_sum":
            factors = np.array(scalars or [2 - g % 2 for g in range(len(parts))]).astype(parts.dtype)
            parts, op = parts * factors[:, None, None], "sum"
        if op in ("sum", "avg"):
            total = parts.sum(axis=0, dtype=parts.dtype)
            if op == "sum":
                return total
            if np.issubdtype(total.dtype, np.floating):
                return total / total.dtype.type(len(parts))
            return (np.sign(total) * (np.abs(total) // len(parts))).astype(total.dtype)  # towards zero
        if op == "prod":
            return parts.prod(axis=0, dtype=parts.dtype)
        return parts.min(axis=0) if op == "min" else parts.max(axis=0)


def expected(case, heaps):
    """The heaps after the call."""
    problem = case["problem"]
    call, layout, collective = problem["calls"][0], problem["layout"], problem["collective"]
    group, root, details = call["group"], call["root"], call["details"]
    m, n, w = call["shape"]["m"], call["shape"]["n"], len(group)
    reduces = "reduce" in collective
    dtype = NATIVE[problem["dtype"]] if reduces else RAW[case["element_bytes"]]
    tall, wide = (w * m, n), (m, w * n)
    in_shape = {"scatter": tall, "all_to_all": tall, "reduce_scatter": tall, "all_to_all_columns": wide}.get(collective, (m, n))
    out_shape = {"all_gather": tall, "gather": tall, "all_to_all": tall, "all_to_all_columns": wide}.get(collective, (m, n))
    after = [heap.copy() for heap in heaps]
    if problem["in_place"]:
        shared = [matrix(after[rank], case["output_start"], *max(in_shape, out_shape), layout["output"], dtype)
                  for rank in group]
        # The smaller matrix is the rank's own part of the larger one.
        part = lambda g, shape: shared[g] if shape == shared[g].shape else shared[g][g * m:(g + 1) * m]
        outputs = [part(g, out_shape) for g in range(w)]
        inputs = [part(g, in_shape).copy() for g in range(w)]
    else:
        outputs = [matrix(after[rank], case["output_start"], *out_shape, layout["output"], dtype) for rank in group]
        inputs = [matrix(heaps[rank], case["input_start"], *in_shape, layout["input"], dtype) for rank in group]
    total = combined(inputs, details["op"], details["scalars"]) if reduces else None
    for g, out in enumerate(outputs):
        if collective == "all_gather" or (collective == "gather" and g == root):
            out[:] = np.concatenate(inputs)
        elif collective == "broadcast":
            out[:] = inputs[root]
        elif collective == "scatter":
            out[:] = np.split(inputs[root], w)[g]
        elif collective == "all_to_all" and details["counts"]:
            cuts = [np.cumsum(sent)[:-1] for sent in details["counts"]]
            received = np.concatenate([np.split(part[:sum(sent)], cut)[g]
                                       for part, sent, cut in zip(inputs, details["counts"], cuts)])
            out[:len(received)] = received
        elif collective == "all_to_all":
            out[:] = np.concatenate([np.split(part, w)[g] for part in inputs])
        elif collective == "all_to_all_columns":
            out[:] = np.hstack([np.hsplit(part, w)[g] for part in inputs])
        elif collective == "all_reduce" or (collective == "reduce" and g == root):
            out[:] = total
        elif collective == "reduce_scatter":
            out[:] = np.split(total, w)[g]
        elif collective == "reduce_scatter_tiles":
            tm, tn = call["tile"]["m"], call["tile"]["n"]
            owners = iter(details["owners"])
            for row in range(0, m, tm):
                for column in range(0, n, tn):
                    if next(owners) == g:
                        out[row:row + tm, column:column + tn] = total[row:row + tm, column:column + tn]
    return after


def main(folder):
    heaps_file = (folder / "heaps.bin").open("rb")
    compared, distinct, wrong = Counter(), set(), 0
    noticed = {}
    for line in (folder / "cases.jsonl").open():
        case = json.loads(line)
        problem = case["problem"]
        world, size = problem["world"], case["heap_bytes"]
        read = lambda: [np.frombuffer(heaps_file.read(size), np.uint8) for _ in range(world)]
        before, reference, faulty = read(), read(), read()
        want = expected(case, before)
        same = lambda heaps: all(np.array_equal(a, b) for a, b in zip(want, heaps))
        compared[problem["collective"]] += 1
        call = problem["calls"][0]
        distinct.add((problem["collective"], call["details"]["op"], problem["dtype"], world, tuple(call["group"])))
        if not same(reference):
            wrong += 1
            print("DIFFERS", json.dumps(problem))
        noticed[case["fault"]] = noticed.get(case["fault"], 0) + (not same(faulty))
    print(f"layouts: {compared.total()} cases of {len(distinct)} distinct (collective, op, dtype, ranks, group) "
          f"against NumPy {np.__version__}: {wrong} differ")
    for collective, count in compared.items():
        print(f"  {collective}: {count}")
    for name, cases in noticed.items():
        print(f"  planted fault {name}: {cases} cases differ")
    return 1 if wrong or not all(noticed.values()) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
