/// What a tooltip says of a row or of a summary of repeats.

import { bytesText, figure, percentText, pointText, timeText, timesText } from "./format.js";

function line(name, value, text) {
  return value === null || value === undefined ? [] : [[name, text(value)]];
}

function intensityLines(row) {
  return [
    ...line("intensity, model", row.intensity_model, (v) => `${figure(v)} FLOP/byte`),
    ...line("intensity, measured", row.intensity_measured, (v) => `${figure(v)} FLOP/byte`),
  ];
}

export function describeRow(row) {
  return {
    title: pointText(row),
    lines: [
      ...line("time", row.time_us, timeText),
      ...line("performance", row.tflops, (v) => `${figure(v)} TFLOP/s`),
      ...line("bandwidth", row.gbps, (v) => `${figure(v)} GB/s`),
      ...intensityLines(row),
      ...line("of the roofline", row.roofline_fraction, percentText),
      ...line("limiter", row.limiter === "unknown" ? null : row.limiter, String),
      ...line("device", row.device, String),
    ],
  };
}

/// A point of an erosion curve.
export function describeSummary(summary) {
  const repeats = summary.rows.length;
  return {
    title: pointText(summary.row),
    lines: [
      ["time", timeText(summary.time_us)],
      ...line("ideal", summary.ideal_us, timeText),
      ...line("speed-up", summary.speedup, timesText),
      ...line("efficiency", summary.efficiency, percentText),
      ...line("reuse retained", summary.reuse_retained, percentText),
      ...intensityLines(summary),
      ...line("KV read by all ranks", summary.kv_bytes_all, bytesText),
      ...line("KV copies", summary.kv_duplication, String),
      ...(repeats > 1 ? [["median of", `${repeats} repeats`]] : []),
    ],
  };
}
