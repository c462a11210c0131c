#!/usr/bin/env bash
# The README's second command: installs what is missing, then runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/packages.sh
profile=default
[ "${CI:-}" = true ] && profile=ci
# nextest does not run the examples in the documentation of crates.
[ $# -gt 0 ] || cargo test --locked --workspace --doc --quiet
cargo nextest run --locked --workspace --profile "$profile" "$@"
