#!/usr/bin/env bash
# Everything on this machine's NVIDIA GPUs, from a binary: no Rust, no network, nothing installed.
#
#   ci/gpu.sh BINARY OUT
#
# BINARY is the file itself, or a folder with the tar file that ci/dist.sh makes.
# OUT gets JSON and JUnit of every run and summary.json, which is small enough to commit. Exit 1 when
# something failed. SCENARIOS (default: scenarios) names other scenarios.
set -uo pipefail
given=$(realpath "$1")
out=$2
scenarios=${SCENARIOS:-scenarios}
cd "$(dirname "$0")/.." || exit
mkdir -p "$out"
binary=$given
if [ -d "$given" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  tar -xzf "$given"/rankcheck-*.tar.gz -C "$work" --strip-components=1 || exit
  binary=$work/bin/rankcheck
fi
failed=0

step() { # name, then arguments of the binary
  local name=$1
  shift
  local started=$SECONDS
  "$binary" "$@" >"$out/$name.log" 2>&1
  local code=$?
  echo "$name: exit $code, $((SECONDS - started)) s"
  # 4: nothing of it can run here, which its own report says.
  [ $code = 0 ] || [ $code = 4 ] || failed=1
}

report() { echo "--report json=$out/$1.json --report junit=$out/$1.xml"; }

"$binary" doctor | tee "$out/doctor.txt"
gpus=$(grep -c '^GPU [0-9]' "$out/doctor.txt")
if [ "$gpus" = 0 ]; then
  echo "no NVIDIA GPU here" >&2
  exit 3
fi
step build build "$scenarios" --device cuda
# shellcheck disable=SC2046
{
  step logical run "$scenarios" --device cuda --mode logical --gpus 0 $(report logical)
  step one_gpu run "$scenarios" --device cuda --mode process --gpus 0 $(report one_gpu)
  for count in 2 4 8; do
    [ "$gpus" -ge $count ] || continue
    # One GPU a rank: worlds of that many ranks and fewer.
    list=$(seq -s, 0 $((count - 1)))
    step "gpus_$count" run "$scenarios" --device cuda --mode process --gpus "$list" $(report gpus_$count)
  done
}
step selftest selftest --device cuda --report json="$out/selftest.json" --report markdown="$out/selftest.md"
step speed doctor --measure

python3 - "$out" <<'SUMMARY'
import json, pathlib, sys

out = pathlib.Path(sys.argv[1])
runs, environment = {}, None
for path in sorted(out.glob("*.json")):
    if path.name == "summary.json":
        continue
    data = json.loads(path.read_text())
    environment = environment or data["environment"]
    runs[path.stem] = data["summary"]
    reasons = {}
    for case in data.get("cases", []):
        if case["verdict"] == "unsupported":
            reason = f"{case['reason']['needed']}: {case['reason']['found']}"
            reasons[reason] = reasons.get(reason, 0) + 1
    if reasons:
        runs[path.stem]["unsupported_by_reason"] = reasons
summary = {"environment": environment, "doctor": (out / "doctor.txt").read_text().splitlines(), "runs": runs}
if (out / "speed.log").exists():
    summary["speed"] = (out / "speed.log").read_text().splitlines()
(out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
SUMMARY
exit $failed
