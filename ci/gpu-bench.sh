#!/usr/bin/env bash
# Benchmarks on this machine's first NVIDIA GPU, from a binary: no Rust, no network, nothing installed.
#
#   ci/gpu-bench.sh BINARY OUT
#
# OUT gets the file of samples of each scenario and what was printed. Exit 1 when an arm was invalid, except
# for the mutants, of which every one but the twin must be: exit 1 when one was believed.
set -uo pipefail
binary=$(realpath "$1")
out=$2
cd "$(dirname "$0")/.." || exit
mkdir -p "$out"
failed=0

bench() { # name, then arguments
  local name=$1
  shift
  local started=$SECONDS
  "$binary" bench "$@" --device cuda --gpus 0 --mode logical --json "$out/$name.json" >"$out/$name.txt" 2>&1
  local code=$?
  echo "$name: exit $code, $((SECONDS - started)) s"
  tail -n 60 "$out/$name.txt"
  return $code
}

bench one_gpu ci/bench/one_gpu.yaml || failed=1
bench clocked tests/clocked/timed.yaml
python3 - "$out/clocked.json" <<'CHECK' || failed=1
import json, sys

file = json.load(open(sys.argv[1]))
wrong = []
for row in file["rows"]:
    invalid = {why["arm"] for why in row.get("invalid", []) if "arm" in why}
    for number, arm in enumerate(row["arms"]):
        honest = arm["name"].startswith("twin")
        if honest == (number in invalid):
            wrong.append(f"{row['id']}: {arm['name']} is {'not ' if honest else ''}believed")
print("\n".join(wrong) or "every mutant is marked invalid, and no twin")
sys.exit(bool(wrong) or not file["rows"])
CHECK
exit $failed
