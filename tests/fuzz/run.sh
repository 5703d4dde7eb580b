#!/usr/bin/env bash
# run.sh OUT SECONDS JOBS: all fuzz targets under libFuzzer, over JOBS processes at once, for SECONDS.
# What is found goes to OUT/found/TARGET, inputs that crash to OUT/crashes; the last lines say, a
# target: executions, CPU-seconds, crashes.  Exit 1 when there was a crash.
#   HEADSPLIT_LIBFUZZER  the program (bin/libfuzzer beside this script)
#   HEADSPLIT_CORPUS     its corpora (corpus beside this script)
set -euo pipefail
[ $# = 3 ] || { echo "usage: run.sh OUT SECONDS JOBS" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${HEADSPLIT_LIBFUZZER:-$here/bin/libfuzzer}
corpus=${HEADSPLIT_CORPUS:-$here/corpus}
targets=(sweep_yaml config_json wire http database)
mkdir -p "$1"/{crashes,logs}
out=$(cd "$1" && pwd) seconds=$2 jobs=$3
# Leaks are looked for in the debug build's tests; here the check would need ptrace.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0} UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
export HEADSPLIT_LOG=error

# TARGET JOB SECONDS: until the time is up, again after each crash.
fuzz_one() {
  local target=$1 job=$2 end=$((SECONDS + $3)) turn=0 log
  mkdir -p "$out/found/$target"
  while [ $((end - SECONDS)) -gt 0 ]; do
    turn=$((turn + 1))
    log=$out/logs/$target-$job-$turn
    TIMEFORMAT='cpu %U %S'
    { time HEADSPLIT_FUZZ_TARGET=$target "$program" -seed=$((job * 1000 + turn)) \
      -max_total_time=$((end - SECONDS)) -max_len=16384 -timeout=20 -rss_limit_mb=2048 \
      -reload=30 -print_final_stats=1 -artifact_prefix="$out/crashes/$target-$job-$turn-" \
      "$out/found/$target" "$corpus/$target" >"$log" 2>&1 || true; } 2>"$log.time"
  done
}

# JOB: one target, or its share of them when there are fewer jobs than targets.
work() {
  local job=$1 mine=() at
  for at in "${!targets[@]}"; do
    if [ $((at % jobs)) = $((job % ${#targets[@]} % jobs)) ]; then mine+=("${targets[at]}"); fi
  done
  [ "$jobs" -lt ${#targets[@]} ] || mine=("${targets[job % ${#targets[@]}]}")
  for at in "${mine[@]}"; do fuzz_one "$at" "$job" $((seconds / ${#mine[@]})); done
}

for ((job = 0; job < jobs; ++job)); do work "$job" & done
wait

status=0
for target in "${targets[@]}"; do
  runs=$(cat "$out/logs/$target"-*[0-9] 2>/dev/null | awk '/^stat::number_of_executed_units/ {n += $2} END {printf "%d", n}')
  cpu=$(cat "$out/logs/$target"-*.time 2>/dev/null | awk '/^cpu/ {n += $2 + $3} END {printf "%.0f", n}')
  crashes=$(find "$out/crashes" -name "$target-*" | wc -l)
  [ "$crashes" = 0 ] || status=1
  printf '%-12s %12s executions %8s CPU-seconds %4s crashes\n' "$target" "$runs" "$cpu" "$crashes"
done
exit $status
