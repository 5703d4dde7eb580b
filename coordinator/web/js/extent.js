/// Ranges of axes: what the points need, and some air.

function spread(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/// [low, high] of an axis {log, min, max, air}.  `min` and `max`, where stated, are always within
/// the range.
export function extentOf(axis, values) {
  const stated = [axis.min, axis.max].filter((value) => value !== undefined);
  const usable = axis.log ? values.filter((value) => value > 0) : values;
  let [low, high] = spread([...usable, ...stated]);
  if (!Number.isFinite(low)) return axis.log ? [1, 10] : [0, 1];
  if (axis.log) {
    const air = axis.air ?? 1.25;
    return [low / air, high * air];
  }
  if (low === high) high = low + (Math.abs(low) || 1);
  const air = (high - low) * 0.08;
  return [low < 0 || axis.min === undefined ? low - air : low, high + air];
}

/// All values that the points and fitted references of a plot have along x or y.
export function valuesAlong(spec, direction) {
  const values = [];
  const at = direction === "x" ? 0 : 1;
  for (const series of spec.series) {
    for (const point of series.points) {
      values.push(point[direction]);
      if (direction === "y" && point.low > 0) values.push(point.low);
      if (direction === "y" && point.high > 0) values.push(point.high);
    }
  }
  for (const reference of spec.references ?? []) {
    if (reference.fit) for (const corner of reference.points) values.push(corner[at]);
  }
  return values;
}
