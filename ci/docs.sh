#!/usr/bin/env bash
# Builds the book of docs/ into target/book. That its text is true, its links lead somewhere and its blocks
# work is tested by tests/tests/documents.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/packages.sh docs
mdbook=$(command -v mdbook || echo target/python/bin/mdbook)
said=$("$mdbook" build docs 2>&1) || { echo "$said" >&2; exit 1; }
echo "$said"
# mdbook goes on where a page is missing or a tag is not closed.
if grep -qE "WARN|ERROR" <<<"$said"; then
  echo "ci: mdbook warns" >&2
  exit 1
fi
