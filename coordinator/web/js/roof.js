/// The roofline: what a device could do at an arithmetic intensity.

import { median } from "./rows.js";

/// FLOP/byte where the memory roof meets the ceiling.  tflops and gbps as devices state them.
export function ridgeOf(ceiling) {
  return (ceiling.tflops * 1e3) / ceiling.gbps;
}

/// TFLOP/s attainable at an intensity in FLOP/byte.
export function attainable(ceiling, intensity) {
  return Math.min(ceiling.tflops, (intensity * ceiling.gbps) / 1e3);
}

/// Corners of the roof between two intensities.
export function roofCorners(ceiling, low, high) {
  const ridge = ridgeOf(ceiling);
  const between = ridge > low && ridge < high ? [[ridge, ceiling.tflops]] : [];
  return [[low, attainable(ceiling, low)], ...between, [high, attainable(ceiling, high)]];
}

/// The best that rows themselves reached on a device: a lower bound of its ceilings, for devices
/// of which nothing else is known.
export function bestSeen(rows, device) {
  const seen = { device, tflops: 0, gbps: 0, source: "best seen" };
  for (const row of rows) {
    if (row.device !== device) continue;
    if (row.tflops > seen.tflops) seen.tflops = row.tflops;
    if (row.gbps > seen.gbps) seen.gbps = row.gbps;
  }
  return seen.tflops > 0 && seen.gbps > 0 ? seen : null;
}

/// What a device reached when it measured itself, as its rows have it; null when they have not.
function measuredRoof(rows, device) {
  const own = rows.filter((row) => row.device === device);
  const tflops = median(own.map((row) => row.matmul_ceiling_tflops));
  const gbps = median(own.map((row) => row.read_ceiling_gbps));
  return tflops > 0 && gbps > 0 ? { device, tflops, gbps, source: "measured" } : null;
}

/// Ceilings of the devices in the rows: measured on them, and as the server knows their data
/// sheets; of a device with neither, the best seen.
export function ceilingsOf(rows, known) {
  const ceilings = [];
  for (const device of new Set(rows.map((row) => row.device))) {
    const measured = measuredRoof(rows, device);
    const stated = known.filter((ceiling) => ceiling.device === device);
    const best = measured === null && stated.length === 0 ? bestSeen(rows, device) : null;
    ceilings.push(...[measured, ...stated, best].filter((ceiling) => ceiling !== null));
  }
  return ceilings;
}

/// The ceiling that the work of a row runs against: measured where it was.
export function ceilingFor(ceilings, row) {
  return ceilings.find((ceiling) => ceiling.device === row.device) ?? null;
}
