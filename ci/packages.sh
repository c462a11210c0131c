#!/usr/bin/env bash
# Installs what a bare machine with a Rust toolchain lacks: a C++ compiler and cargo-nextest; for
# `ci/packages.sh oracle openmpi` (or mpich) an MPI, libclang for its bindings, and NumPy.
# Every package that the project needs is named here and nowhere else.
set -euo pipefail
cd "$(dirname "$0")/.."

apt_install() {
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$@"
}

command -v cargo >/dev/null || { echo "ci: a Rust toolchain is needed (cargo is not on PATH)" >&2; exit 3; }
command -v g++ >/dev/null || apt_install g++ libc6-dev
command -v git >/dev/null || apt_install git
# The same kernels must run when clang builds them; see crates/simt/tests.
command -v clang++ >/dev/null || apt_install clang
# The C library is found through it; see ci/dist-test.sh.
command -v pkg-config >/dev/null || apt_install pkg-config
# The Python package's tests, in an environment of their own.
if ! target/python/bin/python -c "import numpy, pytest" 2>/dev/null; then
  python3 -m venv target/python 2>/dev/null || { apt_install python3 python3-venv; python3 -m venv --clear target/python; }
  target/python/bin/pip install -q numpy pytest
fi
command -v cargo-nextest >/dev/null || cargo install cargo-nextest --locked

if [ "${1:-}" = oracle ]; then
  command -v "mpicc.$2" >/dev/null || apt_install "lib$2-dev" "$([ "$2" = openmpi ] && echo openmpi-bin || echo mpich)"
  ls /usr/lib/llvm-*/lib/libclang*.so* >/dev/null 2>&1 || apt_install libclang-dev
  /usr/bin/python3 -c 'import numpy' 2>/dev/null || apt_install python3-numpy
fi
