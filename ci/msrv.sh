#!/usr/bin/env bash
# Checks the workspace with the oldest Rust that Cargo.toml promises (rust-version), installing it with rustup
# where it may. Exit code 3: no such toolchain is to be had here.
set -euo pipefail
cd "$(dirname "$0")/.."
promised=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
[ -n "$promised" ] || { echo "ci: Cargo.toml has no rust-version" >&2; exit 1; }
# The toolchain in use may be the promised one: 1.95 is 1.95.0.
if [[ $(rustc --version) == "rustc $promised".* || $(rustc --version) == "rustc $promised "* ]]; then
  exec cargo check --locked --workspace --all-targets
fi
command -v rustup >/dev/null || { echo "ci: Rust $promised is needed, and there is no rustup to get it" >&2; exit 3; }
rustup run "$promised" rustc --version >/dev/null 2>&1 ||
  rustup toolchain install "$promised" --profile minimal --no-self-update ||
  { echo "ci: rustup cannot install Rust $promised here" >&2; exit 3; }
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/msrv
exec rustup run "$promised" cargo check --locked --workspace --all-targets
