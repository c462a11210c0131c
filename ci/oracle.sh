#!/usr/bin/env bash
# Holds the reference against NumPy's layouts and an MPI's collectives, neither written here.
#
#   ci/oracle.sh              Open MPI, eight ranks
#   ci/oracle.sh mpich        MPICH, three ranks: its ranks spin without yielding, so few of them
#   ci/oracle.sh red          that a planted fault in the reference turns the comparison red
set -euo pipefail
cd "$(dirname "$0")/.."
which=${1:-openmpi}
case "$which" in
  openmpi | red) mpi=openmpi launch=(mpirun.openmpi --oversubscribe -np 8) ;;
  mpich) mpi=mpich launch=(mpirun.mpich -np 3) ;;
  *) echo "usage: ci/oracle.sh [openmpi|mpich|red]" >&2; exit 2 ;;
esac
ci/packages.sh oracle "$mpi"
[ "$mpi" = openmpi ] && [ "$(id -u)" = 0 ] && launch+=(--allow-run-as-root)
# Nothing leaves this machine, whatever interfaces it has.
export OMPI_MCA_btl=self,vader OMPI_MCA_oob_tcp_if_include=lo PRTE_MCA_oob_tcp_if_include=lo
# Its vector code saturates sums of 8-bit integers, which wrap in MPI's own loops and everywhere else.
export OMPI_MCA_op=^avx

# The bindings of one MPI are not those of another: only Open MPI's share the usual folder.
export MPICC=mpicc.$mpi CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}
[ "$mpi" = openmpi ] || CARGO_TARGET_DIR=$CARGO_TARGET_DIR/oracle-$mpi
cargo clippy --locked --quiet -p oracle --features mpi --all-targets -- -D warnings
cargo build --locked --quiet -p oracle --features mpi
oracle=$CARGO_TARGET_DIR/debug/oracle

if [ "$which" = red ]; then
  code=0
  timeout 120 "${launch[@]}" "$oracle" mpi --planted group_in_rank_order >/dev/null 2>&1 || code=$?
  [ "$code" = 1 ] || { echo "ci: a planted fault gave exit code $code, not 1" >&2; exit 1; }
  echo "oracle: a planted fault turns it red"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$oracle" layouts "$folder"
/usr/bin/python3 ci/layouts.py "$folder"
timeout 600 "${launch[@]}" "$oracle" mpi
