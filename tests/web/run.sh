#!/usr/bin/env bash
# Tests of the web page: its logic in node, and the page itself in a headless Chromium.
# Exits 77, saying what is missing, where they cannot run.
#   run.sh logic | browser
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! command -v node >/dev/null; then
  echo "skipped: no node (apt-get install nodejs npm)"
  exit 77
fi
case ${1:-} in
  logic) exec node --test ./*.test.mjs ;;
  browser)
    node missing.mjs || exit 77
    exec node --test --test-concurrency=1 ./*.browser.mjs
    ;;
  *)
    echo "usage: run.sh logic | browser" >&2
    exit 2
    ;;
esac
