"""The `rankcheck` command of an installed wheel: becomes the binary that the wheel carries."""

import os
import sys
from pathlib import Path


def main():
    binary = Path(__file__).resolve().parent / "bin" / "rankcheck"
    if not binary.is_file():
        sys.exit("this installation carries no binary: run `cargo build --release -p rankcheck`")
    os.execv(binary, ["rankcheck", *sys.argv[1:]])
