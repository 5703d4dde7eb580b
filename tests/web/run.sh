#!/usr/bin/env bash
# Tests of the web page: its logic in node, and the page itself in a headless Chromium.
# Exits 77, saying what is missing, where they cannot run.
#   run.sh logic | browser | bench
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
  bench)
    node missing.mjs || exit 0
    exec node page_bench.mjs "${@:2}"
    ;;
  *)
    echo "usage: run.sh logic | browser | bench" >&2
    exit 2
    ;;
esac
