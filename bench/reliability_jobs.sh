#!/usr/bin/env bash
# reliability_jobs.sh OUT JOBS: 200 chaos rounds (HEADSPLIT_CHAOS_ROUNDS) and 10,000 simulated
# schedules (HEADSPLIT_SCHEDULES), JOBS at a time, each with seeds of its own.  Logs go to OUT, the
# last lines sum them up.  Exit 1 when a promise was broken.  HEADSPLIT_BIN: the programs (bin beside
# this script).
set -euo pipefail
[ $# = 2 ] || { echo "usage: reliability_jobs.sh OUT JOBS" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export HEADSPLIT_BIN=${HEADSPLIT_BIN:-$here/bin} HEADSPLIT_SOURCE=$here
mkdir -p "$1"
out=$(cd "$1" && pwd) jobs=$2
rounds=${HEADSPLIT_CHAOS_ROUNDS:-200} schedules=${HEADSPLIT_SCHEDULES:-10000} first=${HEADSPLIT_SEED:-1}

# A network of its own, where that is allowed: a coordinator that is started again must find its port
# free, and dozens of them draw ports from one range.
own_network() {
  if unshare --net true 2>/dev/null && command -v ip >/dev/null; then
    unshare --net bash -c 'ip link set lo up && exec "$@"' own_network "$@"
  else
    "$@"
  fi
}

one_round() {
  local seed=$1 scratch=$out/scratch-$1
  mkdir -p "$scratch"
  TMPDIR=$scratch HEADSPLIT_SEED=$seed HEADSPLIT_CHAOS_ROUNDS=1 own_network \
    "$HEADSPLIT_BIN/e2e_chaos_test" --gtest_filter='Chaos.*' >"$out/round-$seed.log" 2>&1 &&
    touch "$out/round-$seed.ok"
  rm -rf "$scratch"
}

some_schedules() {
  local seed=$1 count=$2
  HEADSPLIT_SEED=$seed HEADSPLIT_SCHEDULES=$count "$HEADSPLIT_BIN/bench_reliability" schedules \
    >"$out/schedules-$seed.log" 2>&1 && touch "$out/schedules-$seed.ok"
}

# Runs what is asked for when fewer than JOBS are at work.
when_free() {
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  "$@" &
}

rm -f "$out"/*.ok "$out"/*.log
share=$(((schedules + jobs - 1) / jobs))
for ((seed = first; seed < first + schedules; seed += share)); do
  left=$((first + schedules - seed))
  when_free some_schedules "$seed" $((left < share ? left : share))
done
for ((seed = first; seed < first + rounds; ++seed)); do when_free one_round "$seed"; done
wait || true

passed=$(find "$out" -name 'round-*.ok' | wc -l)
shares=$(find "$out" -name 'schedules-*.log' | wc -l)
good=$(find "$out" -name 'schedules-*.ok' | wc -l)
shopt -s nullglob
for log in "$out"/*.log; do [ -e "${log%.log}.ok" ] || tail -n 25 "$log"; done
find "$out" -name 'schedules-*.log' -exec cat {} + | awk '/schedules \(/ {n += $2; leases += substr($4, 2); starts += $6; bad += $11}
  END {printf "schedules: %d (%d leases, %d starts of the coordinator), %d violations\n", n, leases, starts, bad}'
echo "schedules: $good of $shares shares without a violation"
echo "chaos: $passed of $rounds rounds without a broken promise"
[ "$passed" = "$rounds" ] && [ "$good" = "$shares" ]
