#!/usr/bin/env bash
# Licences, sources and banned crates of all dependencies, by deny.toml; with `advisories`, which needs the
# network, known vulnerabilities too.
#
#   ci/deny.sh [advisories]
set -euo pipefail
cd "$(dirname "$0")/.."
ci/packages.sh deny
checks=(bans licenses sources)
[ "${1:-}" != advisories ] || checks+=(advisories)
offline=(--offline)
[ "${1:-}" != advisories ] || offline=()
cargo deny --locked "${offline[@]}" check "${checks[@]}"
