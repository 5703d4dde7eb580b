#!/usr/bin/env bash
# Tests of what containers, clusters and workflows are made of; `stack` runs the compose file's
# processes, in a network and mounts of their own.  Exits 77, saying why, where they cannot run.
#   run.sh files | stack
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

skip() {
  echo "skipped: $*"
  exit 77
}
command -v node >/dev/null || skip "no node (apt-get install nodejs npm)"
[ -d node_modules ] || skip "no node_modules here (./dev setup)"
case ${1:-} in
  files) exec node --import ./json_modules.mjs --test ./*.test.mjs ;;
  stack)
    [ "$(id -u)" = 0 ] || skip "namespaces need root"
    command -v prometheus >/dev/null || skip "no prometheus (apt-get install prometheus)"
    unshare --net --mount --uts true 2>/dev/null || skip "this machine permits no namespaces"
    exec unshare --net --mount sh -c 'ip link set lo up && exec node --test stack.process.mjs'
    ;;
  *)
    echo "usage: run.sh files | stack" >&2
    exit 2
    ;;
esac
