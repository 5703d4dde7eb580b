#!/usr/bin/env bash
# Everything that evidence/<gpu>/ quotes of the harness, on a machine with one GPU and nothing
# installed: GPU tests, compute-sanitizer, two runs that must agree, the main sweep.
#
#   ./dev bundle FOLDER && cp -r build/release/plugins FOLDER/     on the machine that builds
#   tests/gpu/evidence.sh FOLDER OUT                               on the machine with the GPU
#
# About four minutes on an H200, two of them the sweep.  Into OUT: tests.txt, sanitizer.txt,
# agreement1.db.gz, agreement2.db.gz, detail.jsonl.gz, erosion.txt, erosion.db.gz.  The figures:
#   sqlite3 -readonly erosion.db < evidence/figures.sql
#   sqlite3 -readonly agreement1.db -cmd "ATTACH 'agreement2.db' AS other" < evidence/agreement.sql
# BACKEND, SWEEP and STEPS (tests sanitizer agreement detail sweep) leave parts out or try it on a
# CPU.
set -uo pipefail
bundle=$(realpath "${1:?evidence.sh BUNDLE OUT}")
out=$(realpath "${2:?evidence.sh BUNDLE OUT}")
backend=${BACKEND:-cuda}
sweep=${SWEEP:-tp-erosion}
steps=${STEPS:-tests sanitizer agreement detail sweep}
bin=$bundle/bin
sweeps=$bundle/share/headsplit/configs/sweeps
export HEADSPLIT_BIN=$bin HEADSPLIT_TEST_PLUGINS=$bundle/plugins
export HEADSPLIT_PLUGINS=$bundle/plugins
export HEADSPLIT_CONFIGS=$bundle/share/headsplit/configs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

wanted() { [[ " $steps " == *" $1 "* ]]; }

gpu_tests() {
  local shard test
  for shard in {0..13}; do
    GTEST_TOTAL_SHARDS=14 GTEST_SHARD_INDEX=$shard timeout 90 "$bin/mla_dense_cuda_test" \
      >"shard$shard" 2>&1 &
  done
  wait
  echo "== mla_dense_cuda_test"
  cat shard* | grep -E 'OK \]|FAILED|PASSED|Failure'
  for test in device_cuda_test bad_input_gpu_test counters_gpu_test; do
    echo "== $test"
    timeout 60 "$bin/$test" 2>&1 | grep -v 'RUN \|release failed'
  done
}

sanitizers() {
  local filter='MlaDenseCuda.RunsEveryWidth*:MlaDenseCuda.SplitAnd*:MlaDenseCuda.ReadsPages*'
  filter+=':ReferenceCuda.GivesZero*:ReferenceCuda.TakesPages*'
  local tool
  for tool in memcheck racecheck synccheck; do
    {
      timeout 90 compute-sanitizer --tool $tool "$bin/mla_dense_cuda_test" \
        --gtest_filter="$filter" >"$tool" 2>&1
      echo "rc $?" >>"$tool"
    } &
  done
  wait
  echo "compute-sanitizer --tool T mla_dense_cuda_test --gtest_filter='$filter'"
  for tool in memcheck racecheck synccheck; do
    echo "== $tool"
    tail -n 3 "$tool"
  done
}

# run NAME SWEEP: the table into OUT, the database beside it.
run() {
  "$bin/headsplit" run "$2" --db "$1.db" --backend "$backend" >"$out/$1.txt" 2>"$1.err" ||
    tail -n 3 "$1.err"
  gzip -9 -c "$1.db" >"$out/$1.db.gz"
}

detail() {
  cat >detail.yaml <<'YAML'
name: detail
tp: [1, 8]
axes: {batch: 128, context: 4K}
measure: {counters: detail, mode: sustained}
YAML
  "$bin/headsplit" run detail.yaml --db detail.db --backend "$backend" >/dev/null 2>detail.err ||
    tail -n 3 detail.err
  "$bin/headsplit" export --db detail.db --format jsonl | gzip -9 >"$out/detail.jsonl.gz"
}

wanted tests && gpu_tests >"$out/tests.txt" 2>&1
wanted sanitizer && sanitizers >"$out/sanitizer.txt" 2>&1
wanted agreement && for n in 1 2; do run agreement$n "$sweeps/agreement.yaml"; done
wanted detail && detail
wanted sweep && run erosion "$sweeps/$sweep.yaml"
rm -f "$out"/agreement?.txt
[ -f "$out/tests.txt" ] && grep -cE 'OK \]' "$out/tests.txt" && grep -E 'FAILED|Failure' "$out/tests.txt"
[ -f "$out/sanitizer.txt" ] && cat "$out/sanitizer.txt"
[ -f "$out/erosion.txt" ] && head -n 40 "$out/erosion.txt"
exit 0
