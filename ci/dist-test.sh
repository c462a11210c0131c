#!/usr/bin/env bash
# What ci/dist.sh has made, used as on a machine without Rust: the wheel in a fresh environment, and a C
# program built through pkg-config.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(cd "${1:-target/dist}" && pwd)
examples=$PWD/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q numpy pytest "$dist"/rankcheck-*.whl
unset RANKCHECK RANKCHECK_LIBRARY PYTHONPATH
export PATH=$work/venv/bin:$PATH RANKCHECK_CACHE=$work/cache
cp -r "$examples/numpy" "$work/numpy"
cd "$work"
rankcheck run smoke
pytest -q -p no:cacheprovider numpy/test_right.py
pytest -q -p no:cacheprovider -p rankcheck.plugin numpy/test_right.py -k all_reduce
if pytest -q -p no:cacheprovider numpy/test_wrong.py > wrong.txt; then
  echo "ci: wrong kernels passed" >&2
  exit 1
fi
grep -q "5 failed" wrong.txt

tar -xzf "$dist"/rankcheck-*.tar.gz
PKG_CONFIG_PATH=$(echo "$work"/rankcheck-*/lib/pkgconfig)
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs rankcheck)"
cc -Wall -Werror "$examples/c/all_gather.c" "${flags[@]}" -o all_gather
./all_gather numpy/all_gather.yaml > c.txt
grep -c '^PASS' c.txt
