#!/usr/bin/env bash
# What is too slow for each change: random cases of every kernel that scenarios run on a CPU, many schedules of
# those that wait, and the other MPI. A failure does not stop the rest.
#
#   ci/nightly.sh [SECONDS]      how long all of the fuzzing may take; 3600 where it is not said
#
# The seed is the day, so that every night draws other cases and a failure can be repeated.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
budget=${1:-3600}
seed=${SEED:-$(date -u +%Y%m%d)}
out=${OUT:-target/nightly}
mkdir -p "$out"
ci/packages.sh && cargo build --locked --release -p rankcheck || exit
rankcheck=${CARGO_TARGET_DIR:-target}/release/rankcheck
failed=0
step() { # what it is, then a command
  local name=$1 started=$SECONDS code=0
  shift
  "$@" || code=$?
  echo "nightly: $name: exit $code, $((SECONDS - started)) s"
  [ $code = 0 ] || failed=1
}

# Not those that stand for host programs, and not the two whose rows must be without padding or offset, which no
# manifest can say.
mapfile -t kernels < <(sed -n 's/^kernel: \([^ ]*\).*/\1/p' kernels/*/*.yaml |
  grep -vE '^(host/.*|foreign/custom_all_reduce|foreign/memory_channel)$')
each=$((budget / ${#kernels[@]}))
[ "$each" -gt 0 ] || each=1
for kernel in "${kernels[@]}"; do
  step "fuzz $kernel" "$rankcheck" fuzz --kernel "$kernel" --time "${each}s" --seed "$seed" --out "$out"
done
step schedules "$rankcheck" run ordering epochs --mode logical --schedules 200 --schedule-seed "$seed"
step late_stores "$rankcheck" run ordering --mode logical --weak --schedules 50 --schedule-seed "$seed"
step late_ranks "$rankcheck" run ordering --mode process --delay 20ms
# Of thousands of simulated machines, on how many is a verdict false?
step verdicts cargo nextest run --locked --release -p bench --run-ignored only
step oracle_mpich ci/oracle.sh mpich
exit $failed
