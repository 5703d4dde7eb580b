/// What head tensor parallelism costs: curves over TP, from rows.

import { groupBy, median } from "./rows.js";
import { tokensText } from "./format.js";

/// Fields that rows of one curve have in common.
const kCurveFields = [
  "device",
  "model",
  "kernel",
  "kv_dtype",
  "query_tokens",
  "batch",
  "context",
  "lengths",
  "l2",
  "ranks",
  "fixed_splits",
  "top_k",
];

/// Fields that rows of one cell have in common: layouts are compared within a cell.
export const kCellFields = kCurveFields;

/// Fields of which 0 says nothing: the sweep did not fix them.
const kSaidWhenSet = ["fixed_splits", "top_k"];

const kNames = {
  query_tokens: (value) => `T=${value}`,
  batch: (value) => `B=${value}`,
  context: (value) => `L=${tokensText(value)}`,
  l2: (value) => `${value} L2`,
  lengths: (value) => `${value} lengths`,
  ranks: (value) => `${value} ranks`,
  fixed_splits: (value) => (value > 0 ? `splits fixed at ${value}` : "splits chosen"),
  top_k: (value) => (value > 0 ? `k=${value}` : "the model's k"),
};

export function keyOf(row, fields) {
  return JSON.stringify(fields.map((field) => row[field] ?? null));
}

/// A measured figure where there is one, else the model's.
export function intensityOf(row) {
  return row.intensity_measured ?? row.intensity_model ?? null;
}

/// One layout of a cell: medians over its repeats, and the rows they come from.  A figure that any
/// repeat lacks is absent: a median over some of them would be of another thing.
export function summaryOf(rows) {
  const middle = (field) =>
    rows.every((row) => Number.isFinite(row[field])) ? median(rows.map((row) => row[field])) : null;
  const intensity_model = middle("intensity_model");
  const intensity_measured = middle("intensity_measured");
  return {
    rows,
    row: rows[0],
    layout: rows[0].layout,
    tp: rows[0].tp,
    ranks: rows[0].tp * rows[0].dp * rows[0].cp,
    time_us: middle("time_us"),
    time_p10_us: middle("time_p10_us"),
    time_p90_us: middle("time_p90_us"),
    time_us_model: middle("time_us_model"),
    intensity_model,
    intensity_measured,
    intensity: intensity_measured ?? intensity_model,
    kv_bytes: middle("kv_bytes_model"),
    roofline_fraction: middle("roofline_fraction"),
  };
}

export function timed(rows) {
  return rows.filter((row) => row.status === "ok" && row.time_us > 0);
}

function ratio(a, b) {
  return a > 0 && b > 0 ? a / b : null;
}

/// AI(P) / AI(1), both counted, else both of the model: never one against the other.
function reuseRetained(base, summary) {
  return (
    ratio(summary.intensity_measured, base.intensity_measured) ??
    ratio(summary.intensity_model, base.intensity_model)
  );
}

/// Times each cached token is stored, as coordinator/erosion.h has it; null where nothing says.
function kvDuplication(base, summary) {
  const { kernel } = summary.row;
  if (kernel === "mha_decode" || kernel === "mla_expanded") return 1;
  if (kernel !== "gqa_decode" || summary.tp === 1) return summary.tp;
  const cache = base && ratio(summary.kv_bytes, base.kv_bytes);
  return cache ? Math.round(cache * summary.tp) : null;
}

/// The figures of one TP against those of TP=1; null where there is no TP=1 to compare with.
function against(base, summary) {
  const speedup = base && ratio(base.time_us, summary.time_us);
  return {
    ...summary,
    speedup,
    efficiency: speedup === null ? null : speedup / summary.tp,
    reuse_retained: base && reuseRetained(base, summary),
    kv_duplication: kvDuplication(base, summary),
    kv_bytes_all: summary.kv_bytes === null ? null : summary.kv_bytes * summary.tp,
    ideal_us: base ? base.time_us / summary.tp : null,
  };
}

/// Curves over pure TP: [{key, row, points}], points by rising TP.  Complete curves first, then
/// those with more TP degrees, then the larger problems.
export function erosionCurves(rows) {
  const pure = timed(rows).filter((row) => row.dp === 1 && row.cp === 1);
  const curves = [];
  for (const [key, group] of groupBy(pure, (row) => keyOf(row, kCurveFields))) {
    const summaries = [...groupBy(group, (row) => row.tp).values()].map(summaryOf);
    summaries.sort((a, b) => a.tp - b.tp);
    const base = summaries.find((summary) => summary.tp === 1) ?? null;
    curves.push({ key, row: group[0], points: summaries.map((s) => against(base, s)) });
  }
  const complete = (curve) => (curve.points[0].tp === 1 ? 1 : 0);
  const size = (curve) => curve.row.batch * curve.row.context;
  return curves
    .filter((curve) => curve.points.length > 1)
    .sort(
      (a, b) =>
        complete(b) - complete(a) || b.points.length - a.points.length || size(b) - size(a),
    );
}

/// Labels that name only what differs between the items (rows), such as "T=1 fp8".
export function labelsOf(items) {
  const varying = kCurveFields.filter(
    (field) => new Set(items.map((item) => item[field])).size > 1,
  );
  return items.map((item) => {
    const named = varying.map((field) => kNames[field]?.(item[field]) ?? String(item[field]));
    return named.length > 0 ? named.join(" ") : `${item.kernel} ${item.kv_dtype}`;
  });
}

/// What the items have in common, for a caption: "mla_dense bf16, B=128, L=8K".
export function commonText(items) {
  if (items.length === 0) return "";
  const same = kCurveFields.filter(
    (field) => new Set(items.map((item) => item[field])).size === 1,
  );
  const isSaid = (field, value) =>
    value !== undefined && value !== "" && !(kSaidWhenSet.includes(field) && value === 0);
  return same
    .filter((field) => isSaid(field, items[0][field]))
    .map((field) => kNames[field]?.(items[0][field]) ?? String(items[0][field]))
    .join(", ");
}
