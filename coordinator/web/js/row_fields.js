/// Fields of a row for people: what they are called, how they read, and where they come from.

import { bytesText, figure, flopsText, momentText, percentText, timeText, tokensText } from "./format.js";

const measured = () => "measured";
const model = () => "model";
const both = () => "model work / measured time";
const whyNoCounters = (row) => row.counters_reason || "";

function field(name, label, text = String, from = undefined, why = undefined) {
  return { name, label, text, from, why };
}

const unit = (name) => (value) => `${figure(value)} ${name}`;
const flops = (value) => flopsText(value);

/// [[title, fields], ...]
export const kGroups = [
  [
    "Time",
    [
      field("time_us", "median", timeText, measured),
      field("time_p10_us", "p10", timeText, measured),
      field("time_p90_us", "p90", timeText, measured),
      field("time_noise", "noise", percentText, measured),
      field("time_warm_us", "with a warm cache", timeText, measured),
      field("split_us", "split kernel", timeText, measured),
      field("combine_us", "combine kernel", timeText, measured),
      field("time_us_model", "by the roofline", timeText, model),
      field("stop_reason", "sampling stopped"),
    ],
  ],
  [
    "Work of one rank",
    [
      field("flops", "useful FLOPs", flops, model),
      field("hbm_bytes_model", "least DRAM bytes", bytesText, model),
      field("kv_bytes_model", "of them KV cache", bytesText, model),
      field("qo_bytes_model", "of them queries, outputs", bytesText, model),
      field("dram_bytes_read", "DRAM bytes read", bytesText, measured, whyNoCounters),
      field("dram_bytes_written", "DRAM bytes written", bytesText, measured, whyNoCounters),
      field("tensor_ops", "tensor operations", flops, measured, whyNoCounters),
      field("l2_bytes", "L2 bytes", bytesText, measured, whyNoCounters),
    ],
  ],
  [
    "Derived",
    [
      field("intensity_model", "intensity", unit("FLOP/byte"), model),
      field("intensity_measured", "intensity, counted", unit("FLOP/byte"), measured, whyNoCounters),
      field("tflops", "performance", unit("TFLOP/s"), both),
      field("gbps", "bandwidth", unit("GB/s"), both),
      field("read_ceiling_gbps", "read ceiling of the device", unit("GB/s"), measured),
      field("matmul_ceiling_tflops", "matmul ceiling of the device", unit("TFLOP/s"), measured),
      field("roofline_fraction", "of the roofline", percentText, (row) =>
        row.intensity_source === "measured" ? "measured" : "model intensity, measured time",
      ),
      field("limiter", "limiter", String, (row) => row.intensity_source),
    ],
  ],
  [
    "Point",
    [
      field("model", "model"),
      field("kernel", "kernel"),
      field("layout", "layout"),
      field("ranks", "ranks"),
      field("local_heads", "heads of one rank"),
      field("batch", "batch"),
      field("query_tokens", "query tokens"),
      field("context", "context", (v) => `${tokensText(v)} tokens`),
      field("rank_batch", "batch of one rank"),
      field("rank_context", "context of one rank", (v) => `${tokensText(v)} tokens`),
      field("kv_dtype", "KV cache"),
      field("top_k", "tokens that a query keeps", (v) => (v > 0 ? `${v}` : "the model's")),
      field("lengths", "lengths"),
      field("l2", "last-level cache"),
      field("repeat", "repeat"),
    ],
  ],
  [
    "How it ran",
    [
      field("config", "configuration"),
      field("num_splits", "splits"),
      field("fixed_splits", "splits fixed by the sweep", (v) => (v > 0 ? `${v}` : "no")),
      field("padded_rows", "padded rows"),
      field("active_ctas", "active CTAs", figure, measured),
      field("occupancy", "occupancy", percentText, measured),
      field("tensor_active_ratio", "tensor units active", percentText, measured),
      field("issue_active_ratio", "issue slots used", percentText, measured),
      field("l2_hit_ratio", "L2 hits", percentText, measured),
      field("error_vs_reference", "error / tolerance", figure, measured),
      field("sm_clock_mhz", "SM clock", unit("MHz"), measured),
      field("power_w", "power", unit("W"), measured),
      field("energy_j", "energy", unit("J"), measured),
      field("temperature_c", "temperature", unit("°C"), measured),
      field("throttled", "throttled", (v, row) => (v ? row.throttle_reason || "yes" : "no"), measured),
    ],
  ],
  [
    "Identity",
    [
      field("point_id", "point"),
      field("epoch", "attempt"),
      field("sweep", "sweep"),
      field("agent", "agent"),
      field("node", "node"),
      field("device", "device"),
      field("gpu_uuid", "GPU"),
      field("driver", "driver"),
      field("cuda", "CUDA"),
      field("build", "build"),
      field("seed", "seed"),
      field("started_unix_s", "started", momentText),
      field("resumed", "resumed", (v) => (v ? "from an earlier run" : "no")),
      field("wall_s", "wall time of the attempt", (v) => timeText(v * 1e6)),
    ],
  ],
];
