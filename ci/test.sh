#!/usr/bin/env bash
# The README's second command: installs what is missing, then runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/packages.sh
profile=default
[ "${CI:-}" = true ] && profile=ci
exec cargo nextest run --workspace --profile "$profile" "$@"
