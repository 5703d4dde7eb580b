/// The roofline: what a device could do at an arithmetic intensity.

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

/// Ceilings of the devices in the rows: as the server knows them, else the best seen.
export function ceilingsOf(rows, known) {
  const ceilings = [];
  for (const device of new Set(rows.map((row) => row.device))) {
    const stated = known.filter((ceiling) => ceiling.device === device);
    const best = stated.length === 0 ? bestSeen(rows, device) : null;
    ceilings.push(...stated, ...(best ? [best] : []));
  }
  return ceilings;
}

/// The ceiling that the work of a row runs against.  MMAs run in bf16 whatever the cache holds, so
/// the bf16 ceiling applies unless the device has only one.
export function ceilingFor(ceilings, row) {
  const own = ceilings.filter((ceiling) => ceiling.device === row.device);
  return own.find((ceiling) => ceiling.name === "bf16") ?? own[0] ?? null;
}
