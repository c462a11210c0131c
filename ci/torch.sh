#!/usr/bin/env bash
# The examples that need torch and Triton: gigabytes of packages, so a job of its own. Takes the Python in
# RANKCHECK_PYTHON, or makes an environment in target/torch (PIP_INDEX_URL may name a CPU-only index).
set -euo pipefail
cd "$(dirname "$0")/.."
python=${RANKCHECK_PYTHON:-target/torch/bin/python}
[ -n "${RANKCHECK_PYTHON:-}" ] || ci/packages.sh torch
cargo build --locked --release -p rankcheck -p guest
rankcheck=${CARGO_TARGET_DIR:-target}/release/rankcheck
export PYTHONPATH=$PWD/python RANKCHECK=$PWD/$rankcheck OMP_NUM_THREADS=1
case $rankcheck in /*) RANKCHECK=$rankcheck ;; esac
export RANKCHECK_LIBRARY=${RANKCHECK%/*}/librankcheck_host.so
for collective in all_gather all_reduce; do
  "$rankcheck" exec --ranks 4 examples/torch/$collective.yaml -- "$python" examples/torch/gloo.py $collective
  "$python" -m torch.distributed.run --standalone --nproc-per-node 2 examples/torch/gloo.py $collective
done
if "$python" -c "import triton" 2>/dev/null; then
  TRITON_INTERPRET=1 "$python" -m pytest -q -p rankcheck.plugin examples/triton
else
  echo "ci: no triton for this Python: its example is not run" >&2
fi
