#!/usr/bin/env bash
# Installs what a bare Debian or Ubuntu machine with a Rust toolchain lacks. Every package that a script
# needs is named here and nowhere else.
#
#   ci/packages.sh                      what ci/lint.sh, ci/test.sh, ci/dist.sh and ci/dist-test.sh need
#   ci/packages.sh docs                 mdbook, for ci/docs.sh
#   ci/packages.sh oracle openmpi       an MPI (or mpich), libclang for its bindings, and NumPy, for ci/oracle.sh
#   ci/packages.sh deny                 cargo-deny, for ci/deny.sh
#   ci/packages.sh torch                torch and NumPy in target/torch, for ci/torch.sh
set -euo pipefail
cd "$(dirname "$0")/.."

apt_install() {
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@"
}

# An environment of its own in target/NAME, so that the system's Python stays as it is.
python_environment() {
  [ -x "target/$1/bin/pip" ] && return
  python3 -m venv "target/$1" 2>/dev/null || { apt_install python3 python3-venv; python3 -m venv --clear "target/$1"; }
}

base() {
  command -v cargo >/dev/null || { echo "ci: a Rust toolchain is needed (cargo is not on PATH)" >&2; exit 3; }
  command -v g++ >/dev/null || apt_install g++ libc6-dev
  command -v git >/dev/null || apt_install git
  # The same kernels must run when clang builds them: tests/tests/litmus.rs, tests/tests/violations.rs.
  command -v clang++ >/dev/null || apt_install clang
  # ci/dist-test.sh finds the C library through it.
  command -v pkg-config >/dev/null || apt_install pkg-config
  command -v shellcheck >/dev/null || apt_install shellcheck
  # The pages of reports are opened in a browser.
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
    apt_install chromium
  # The tests of the Python package.
  if ! target/python/bin/python -c "import numpy, pytest" 2>/dev/null; then
    python_environment python
    target/python/bin/pip install -q numpy pytest
  fi
  command -v cargo-nextest >/dev/null || cargo install cargo-nextest --locked
}

docs() {
  command -v mdbook >/dev/null && return
  [ -x target/python/bin/mdbook ] && return
  python_environment python
  target/python/bin/pip install -q --require-hashes --no-deps -r ci/requirements-docs.txt
}

oracle() {
  command -v "mpicc.$1" >/dev/null || apt_install "lib$1-dev" "$([ "$1" = openmpi ] && echo openmpi-bin || echo mpich)"
  ls /usr/lib/llvm-*/lib/libclang*.so* >/dev/null 2>&1 || apt_install libclang-dev
  /usr/bin/python3 -c 'import numpy' 2>/dev/null || apt_install python3-numpy
}

torch() {
  target/torch/bin/python -c "import torch, numpy, pytest" 2>/dev/null && return
  python_environment torch
  target/torch/bin/pip install -q numpy pytest torch
}

case "${1:-}" in
  "") base ;;
  docs) docs ;;
  oracle) base; oracle "${2:?openmpi or mpich}" ;;
  deny) command -v cargo-deny >/dev/null || cargo install cargo-deny --locked --debug ;;
  torch) torch ;;
  *) echo "usage: ci/packages.sh [docs|oracle MPI|deny|torch]" >&2; exit 2 ;;
esac
