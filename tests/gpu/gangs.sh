#!/usr/bin/env bash
# Everything that evidence/<gpu>-x<N>/ quotes of gangs, on a machine with N GPUs and NCCL and nothing
# else installed: layouts against the fp64 reference, collectives, layouts timed on real ranks beside
# emulated ones, a rank killed in the middle.
#
#   ./dev bundle FOLDER                  on the machine that builds
#   GPUS=4 tests/gpu/gangs.sh FOLDER OUT on the machine with the GPUs
#
# About five minutes on four H200s.  Into OUT: machine.txt, summary.txt, and for each sweep its table
# and its rows (NAME.txt, NAME.jsonl.gz).  BACKEND=cpu and STEPS (equivalence equivalence_fp8
# messages layouts fp8 other_model scatter killed) try it on a CPU or leave parts out.
set -uo pipefail
bundle=$(realpath "${1:?gangs.sh BUNDLE OUT}")
out=$(realpath "${2:?gangs.sh BUNDLE OUT}")
gpus=${GPUS:-$(nvidia-smi -L | wc -l)}
backend=${BACKEND:-cuda}
steps=${STEPS:-equivalence equivalence_fp8 messages layouts fp8 other_model scatter killed}
bin=$bundle/bin
export HEADSPLIT_CONFIGS=$bundle/share/headsplit/configs NCCL_NVLS_ENABLE=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# The layouts of all N GPUs, and those of two.
messages="{tp: 2}, {tp: $gpus}"
[ "$gpus" = 2 ] && messages='{tp: 2}'
case $gpus in
  2) all='{tp: 2}, {dp: 2}, {cp: 2}' ;;
  4) all='{tp: 4}, {dp: 4}, {cp: 4}, {tp: 2, cp: 2}, {tp: 2, dp: 2}, {dp: 2, cp: 2}, {tp: 2}, {cp: 2}' ;;
  *) all="{tp: $gpus}, {dp: $gpus}, {cp: $gpus}, {tp: 2, cp: $((gpus / 2))}, {tp: 2, dp: $((gpus / 2))},
        {tp: $((gpus / 2)), dp: 2}, {tp: 4}, {tp: 2}" ;;
esac
timing='{l2: cold, min_time_ms: 20, max_noise: 0.02, max_time_ms: 400, counters: false}'

cat >equivalence.yaml <<YAML
name: equivalence
ranks: real
layouts: [{tp: 1}, $all]
axes: {batch: [8, 9, 10, 13, 16], context: [65, 128, 1000, 1999, 3000], query_tokens: [1, 2, 3, 4],
       lengths: [equal, ragged]}  # 200 problems
measure: {min_time_ms: 1, max_noise: 0.5, max_time_ms: 20, counters: false}
limits: {attempts: 1, point_timeout_s: 30}
YAML
cat >messages.yaml <<YAML
name: messages
ranks: real
kernels: [all_reduce, all_gather, reduce_scatter, all_to_all]
layouts: [$messages]
axes: {message_bytes: [1K, 4K, 16K, 64K, 256K, 1M, 4M, 16M, 64M, 256M]}
measure: {min_time_ms: 10, max_noise: 0.05, max_time_ms: 200, counters: false}
limits: {attempts: 1, point_timeout_s: 40}
YAML
# layouts NAME MODEL QUERY_TOKENS
layouts() {
  cat >"$1.yaml" <<YAML
name: $1
model: $2
ranks: [emulated, real]
layouts: [{tp: 1}, $all]
axes: {batch: [1, 16, 64, 128], context: [4K, 32K, 128K], query_tokens: $3}
measure: $timing
limits: {attempts: 2, point_timeout_s: 60}
YAML
}
layouts layouts deepseek-v3 '[1, 2, 4]'
layouts other_model kimi-k2 '[1, 2, 4]'
layouts fp8 deepseek-v3 '[1, 2], kv_dtype: fp8'
sed 's/^name: equivalence/name: equivalence_fp8/; s/lengths:/kv_dtype: fp8, lengths:/; s/  # 200 problems//' \
  equivalence.yaml >equivalence_fp8.yaml
cat >scatter.yaml <<YAML
name: scatter
model: deepseek-v3
ranks: real
layouts: [{cp: $gpus}]
axes: {batch: [1, 16, 128], context: 32K}
gang: {pages: blocked, merge: gather_scatter}
measure: $timing
limits: {attempts: 1, point_timeout_s: 40}
YAML
cat >killed.yaml <<YAML
name: killed
model: deepseek-v3
ranks: real
layouts: [{tp: $gpus}]
axes: {batch: [16, 64], context: [4K, 32K], query_tokens: [1, 2, 4]}
measure: {l2: cold, min_time_ms: 300, max_noise: 0.0001, max_time_ms: 400, counters: false}
limits: {attempts: 5, point_timeout_s: 40}
YAML

wanted() { [[ " $steps " == *" $1 "* ]]; }

# run NAME LIMIT_S: the table and the rows into OUT, the log's end beside them where rows failed.
run() {
  timeout -k 5 "$2" "$bin/headsplit" run "$1.yaml" --backend "$backend" --agents "$gpus" \
    --db "$1.db" >"$out/$1.txt" 2>"$1.err" || tail -n 3 "$1.err"
  "$bin/headsplit" export --db "$1.db" --format jsonl >"$1.jsonl"
  python3 - "$1.jsonl" <<'PY'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
count = {s: sum(r["status"] == s for r in rows) for s in ("ok", "failed", "skipped")}
worst = max((r["error_vs_reference"] or 0 for r in rows if r["status"] == "ok"), default=None)
print(sys.argv[1], count, "worst error over the tolerance:", worst)
for reason in sorted({r["reason"] for r in rows if r["status"] == "failed"})[:5]:
    print("  ", reason[:200])
with open(sys.argv[1], "w") as out:
    for r in rows:
        r["samples_us"] = r["samples_us"][:20]  # the summaries are of all of them
        out.write(json.dumps(r) + "\n")
PY
  gzip -9 -c "$1.jsonl" >"$out/$1.jsonl.gz"
}

# While the sweep runs, a worker is killed every 1.5 s: five times.
killed() {
  (
    for _ in 1 2 3 4 5; do
      sleep 1.5
      victim=$(pgrep -f 'headsplit-agent --worker' | shuf -n 1)
      [ -n "$victim" ] && kill -KILL "$victim" && echo "killed worker $victim at $(date +%T.%1N)"
    done
  ) >"$out/kills.txt" &
  run killed 90
  wait
  grep -hE 'attempt|rank|gave up' killed.db.log 2>/dev/null | grep -v heartbeat | head -n 40 >>"$out/kills.txt"
  nvidia-smi --query-gpu=index,memory.used --format=csv,noheader >>"$out/kills.txt" 2>/dev/null
}

{
  nvidia-smi --query-gpu=index,name,driver_version,uuid --format=csv
  nvidia-smi topo -m
  "$bin/headsplit" --version
} >"$out/machine.txt" 2>&1
{
  wanted equivalence && run equivalence 150
  wanted equivalence_fp8 && run equivalence_fp8 150
  wanted messages && run messages 120
  wanted scatter && run scatter 40
  wanted killed && killed
  wanted other_model && run other_model 300
  wanted layouts && run layouts 300
  wanted fp8 && run fp8 200
} 2>&1 | tee "$out/summary.txt"
exit 0
