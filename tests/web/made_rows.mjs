// Rows made by formula, for tests only: the roofline of an H200 with some noise.  The agent's name
// says so wherever a row is shown.

const kHeads = 128;
const kLatent = 512;
const kKey = 576;
const kPeak_tflops = 620;
const kRead_gbps = 4250;
const kFloor_us = 14;

/// Numbers in [0, 1) that are the same in every run.
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function hexId(number) {
  return (BigInt(number + 1) * 0x9e3779b97f4a7c15n).toString(16).padStart(16, "0").slice(-16);
}

/// What one rank of a layout does, by the formulas of the attention core.
function workOf({ tp, dp, cp, batch, query_tokens, context, kv_dtype }) {
  const heads = Math.ceil(kHeads / tp);
  const requests = Math.ceil(batch / dp);
  const tokens = Math.ceil(context / cp);
  const flops = 2 * requests * query_tokens * heads * tokens * (kKey + kLatent);
  const kv_bytes_model = requests * tokens * (kv_dtype === "fp8" ? 656 : 2 * kKey);
  const qo_bytes_model = requests * query_tokens * heads * (kKey + kLatent) * 2;
  const hbm_bytes_model = kv_bytes_model + qo_bytes_model;
  return { heads, requests, tokens, flops, kv_bytes_model, qo_bytes_model, hbm_bytes_model };
}

function layoutName({ tp, dp, cp }) {
  const parts = [["tp", tp], ["dp", dp], ["cp", cp]].filter(([, size]) => size > 1);
  return parts.length === 0 ? "tp1" : parts.map(([name, size]) => name + size).join("x");
}

function rowOf(point, index, noise) {
  const work = workOf(point);
  const compute_us = work.flops / (kPeak_tflops * 1e6);
  const memory_us = work.hbm_bytes_model / (kRead_gbps * 1e3);
  const time_us = (kFloor_us + Math.hypot(compute_us, memory_us)) * (1 + 0.02 * noise());
  const bytes = work.hbm_bytes_model * (1.01 + 0.02 * noise());
  const tflops = work.flops / time_us / 1e6;
  const intensity_model = work.flops / work.hbm_bytes_model;
  return {
    point_id: hexId(index),
    epoch: 1,
    sweep: "made-for-tests",
    agent: "made-for-tests",
    node: "node-0",
    backend: "cuda",
    device: "NVIDIA H200",
    gpu_uuid: "GPU-made-for-tests",
    driver: "",
    cuda: "",
    build: "test",
    seed: 1,
    started_unix_s: 1767225600 + index,
    status: "ok",
    reason: "",
    resumed: false,
    retryable: false,
    model: "deepseek-v3",
    kernel: "mla_dense",
    layout: layoutName(point),
    ranks: "emulated",
    lengths: "equal",
    l2: "cold",
    ...point,
    local_heads: work.heads,
    rank_batch: work.requests,
    rank_context: work.tokens,
    time_us,
    time_p10_us: time_us * 0.99,
    time_p90_us: time_us * 1.02,
    time_noise: 0.004,
    time_ci_low_us: time_us * 0.995,
    time_ci_high_us: time_us * 1.005,
    samples_us: Array.from({ length: 20 }, () => time_us * (0.99 + 0.03 * noise())),
    stop_reason: "noise below 1 %",
    flops: work.flops,
    hbm_bytes_model: work.hbm_bytes_model,
    kv_bytes_model: work.kv_bytes_model,
    qo_bytes_model: work.qo_bytes_model,
    dram_bytes_read: bytes - work.qo_bytes_model / 2,
    dram_bytes_written: work.qo_bytes_model / 2,
    tensor_ops: work.flops,
    counters: {},
    counters_reason: "",
    intensity_model,
    intensity_measured: work.flops / bytes,
    intensity_source: "measured",
    tflops,
    gbps: work.hbm_bytes_model / time_us / 1e3,
    read_ceiling_gbps: kRead_gbps * 1.03,
    matmul_ceiling_tflops: kPeak_tflops * 1.15,
    roofline_fraction: Math.max(compute_us, memory_us) / time_us,
    limiter: memory_us > compute_us ? "memory" : "tensor",
    num_splits: 8,
    padded_rows: Math.max(0, 64 - work.heads),
    config: "64x64 tiles, 8 splits: fills 132 SMs",
    error_vs_reference: 0.2,
    sm_clock_mhz: 1755,
    power_w: 520,
    temperature_c: 55,
    throttled: false,
    throttle_reason: "",
    wall_s: 0.4,
    kernel_s: 0.1,
    prepare_s: 0.1,
    verify_s: 0.1,
  };
}

const kLayouts = [
  { tp: 1, dp: 1, cp: 1 },
  { tp: 2, dp: 1, cp: 1 },
  { tp: 4, dp: 1, cp: 1 },
  { tp: 8, dp: 1, cp: 1 },
  { tp: 1, dp: 8, cp: 1 },
  { tp: 1, dp: 1, cp: 8 },
  { tp: 4, dp: 2, cp: 1 },
  { tp: 2, dp: 4, cp: 1 },
];

const kFault = { time_us: null, tflops: null, gbps: null, intensity_measured: null, samples_us: [] };

/// A sweep of `count` rows at most: layouts within contexts, batches, widths, dtypes, repeats.
/// Every 97th failed, with a reason.
export function madeRows(count = 768) {
  const random = randomNumbers(7);
  const rows = [];
  for (let repeat = 0; rows.length < count; ++repeat) {
    for (const kv_dtype of ["bf16", "fp8"]) {
      for (const query_tokens of [1, 2, 4]) {
        for (const batch of [8, 32, 64, 128]) {
          for (const context of [1024, 8192, 32768, 65536]) {
            for (const layout of kLayouts) {
              if (rows.length === count) return rows;
              const point = { ...layout, batch, query_tokens, context, kv_dtype, repeat };
              const row = rowOf(point, rows.length, () => random() - 0.5);
              const failed = rows.length % 97 === 96;
              rows.push(
                failed
                  ? { ...row, ...kFault, status: "failed", reason: "worker ended: signal 9 (Killed)" }
                  : row,
              );
            }
          }
        }
      }
    }
  }
  return rows;
}

/// The rows column by column, as the coordinator sends them.
export function columnsOf(rows) {
  const columns = {};
  for (const name of Object.keys(rows[0] ?? {})) {
    if (name === "samples_us" || name === "counters") continue;
    columns[name] = { values: rows.map((row) => row[name]) };
  }
  return { count: rows.length, columns };
}
