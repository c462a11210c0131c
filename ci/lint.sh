#!/usr/bin/env bash
# Formatting, lints, documentation and scripts: warnings are errors.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
cargo clippy --locked --workspace --all-targets -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet
shellcheck ci/*.sh .ci/run
