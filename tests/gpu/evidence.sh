#!/usr/bin/env bash
# Everything that evidence/<gpu>/ quotes of the harness, on a machine with one GPU and nothing
# installed: GPU tests, compute-sanitizer, two runs that must agree, the main sweep.
#
#   ./dev bundle FOLDER && cp -r build/release/plugins FOLDER/     on the machine that builds
#   tests/gpu/evidence.sh FOLDER OUT                               on the machine with the GPU
#
# About ten minutes on an H200, three of them the main sweep.  Into OUT: tests.txt, sanitizer.txt,
# agreement1.db.gz, agreement2.db.gz, detail.jsonl.gz, and of the sweeps tp-erosion (as erosion), fp8, fp8-mma,
# sparse and indexer a table and a database.  The figures:
#   sqlite3 -readonly erosion.db < evidence/figures.sql
#   sqlite3 -readonly agreement1.db -cmd "ATTACH 'agreement2.db' AS other" < evidence/agreement.sql
# BACKEND, SWEEP and STEPS (tests sanitizer agreement detail sweep fp8 sparse) leave parts out or try it on a
# CPU.
set -uo pipefail
bundle=$(realpath "${1:?evidence.sh BUNDLE OUT}")
out=$(realpath "${2:?evidence.sh BUNDLE OUT}")
backend=${BACKEND:-cuda}
sweep=${SWEEP:-tp-erosion}
steps=${STEPS:-tests sanitizer agreement detail sweep fp8 sparse}
bin=$bundle/bin
sweeps=$bundle/share/headsplit/configs/sweeps
export HEADSPLIT_BIN=$bin HEADSPLIT_TEST_PLUGINS=$bundle/plugins
export HEADSPLIT_PLUGINS=$bundle/plugins
export HEADSPLIT_CONFIGS=$bundle/share/headsplit/configs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

wanted() { [[ " $steps " == *" $1 "* ]]; }

# All programs labelled gpu: those of kernels side by side, those of the harness alone.
gpu_tests() {
  local sharded="mla_dense_cuda_test mla_sparse_cuda_test dsa_indexer_cuda_test"
  local shard test
  for shard in {0..7}; do
    for test in $sharded; do
      GTEST_TOTAL_SHARDS=8 GTEST_SHARD_INDEX=$shard timeout 90 "$bin/$test" >"$test.$shard" 2>&1 &
    done
  done
  wait
  for test in $sharded; do
    echo "== $test"
    cat "$test".* | grep -E 'OK \]|FAILED|PASSED|Failure'
  done
  for test in per_head_cuda_test kv_expand_cuda_test device_cuda_test bad_input_gpu_test counters_gpu_test; do
    echo "== $test"
    timeout 60 "$bin/$test" 2>&1 | grep -v 'RUN \|release failed'
  done
}

# sanitize NAME PROGRAM FILTER: three tools side by side, in the background.
sanitized=()
sanitize() {
  local tool
  sanitized+=("$1")
  echo "compute-sanitizer --tool T $2 --gtest_filter='$3'" >"$1.called"
  for tool in memcheck racecheck synccheck; do
    {
      timeout 300 compute-sanitizer --tool $tool "$bin/$2" --gtest_filter="$3" >"$1.$tool" 2>&1
      echo "rc $?" >>"$1.$tool"
    } &
  done
}

sanitizers() {
  local filter='MlaDenseCuda.RunsEveryWidth*:MlaDenseCuda.SplitAnd*:MlaDenseCuda.ReadsPages*' name tool
  sanitize dense mla_dense_cuda_test "$filter:ReferenceCuda.GivesZero*:ReferenceCuda.TakesPages*"
  sanitize fp8 mla_dense_cuda_test 'LocalHeads/MlaDenseCudaFp8.ReadsPages*'
  sanitize fp8_mma mla_dense_cuda_test 'MlaDenseFp8Mma.ReadsPages*:MlaDenseFp8Mma.GoesFromItem*'
  sanitize sparse mla_sparse_cuda_test '*FindsTheFew*:*GivesZero*'
  sanitize indexer dsa_indexer_cuda_test '-*IsTheSame*:*TakesTheEarlier*:*ALongContext*'
  sanitize long_context dsa_indexer_cuda_test '*ALongContext*'
  sanitize selection dsa_indexer_cuda_test '*IsTheSame*'
  sanitize equal_scores dsa_indexer_cuda_test '*TakesTheEarlier*/0'
  sanitize equal_scores_of_cluster dsa_indexer_cuda_test '*TakesTheEarlier*/1'
  wait
  for name in "${sanitized[@]}"; do
    cat "$name.called"
    for tool in memcheck racecheck synccheck; do
      echo "== $tool"
      tail -n 3 "$name.$tool"
    done
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
wanted fp8 && run fp8 "$sweeps/fp8.yaml" && run fp8-mma "$sweeps/fp8-mma.yaml"
wanted sparse && run sparse "$sweeps/sparse.yaml" && run indexer "$sweeps/indexer.yaml"
rm -f "$out"/agreement?.txt
[ -f "$out/tests.txt" ] && grep -cE 'OK \]' "$out/tests.txt" && grep -E 'FAILED|Failure' "$out/tests.txt"
[ -f "$out/sanitizer.txt" ] && cat "$out/sanitizer.txt"
[ -f "$out/erosion.txt" ] && head -n 40 "$out/erosion.txt"
exit 0
