"""torch.distributed on the CPU: gloo's all_gather_into_tensor and all_reduce, judged byte by byte.

    rankcheck exec --ranks 4 examples/torch/all_gather.yaml -- python examples/torch/gloo.py all_gather
    torchrun --standalone --nproc-per-node 4 examples/torch/gloo.py all_reduce

The heap is a torch tensor of the program's own; its image is copied once after each call.
"""

import sys
from pathlib import Path

import rankcheck
import torch
import torch.distributed as dist


def run(collective, mine, group, call):
    if collective == "all_gather":
        gathered = torch.empty((len(call.group) * call.shape[0], call.shape[1]), dtype=mine.input.dtype)
        dist.all_gather_into_tensor(gathered, mine.input.contiguous(), group=group)
        mine.output.copy_(gathered)
    else:
        reduced = mine.input.clone()
        dist.all_reduce(reduced, group=group)
        mine.output.copy_(reduced)


def main(collective):
    dist.init_process_group("gloo")
    groups = {}
    for case in rankcheck.cases(Path(__file__).with_name(f"{collective}.yaml")):
        with case:
            heap = torch.empty(case.heap_bytes, dtype=torch.uint8)
            mine = case.rank(heap)
            for call in case.calls():
                if tuple(call.group) not in groups:
                    # Every rank makes every group, in the same order.
                    groups[tuple(call.group)] = dist.new_group(call.group)
                for rank in call.rank_order():
                    run(collective, mine, groups[tuple(call.group)], call)
                    call.launched(rank, entry=f"gloo {collective}")
                call.judge()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all_gather")
