/// Where the ticks of an axis lie.

const kMultiples = [[1, 2, 5], [1, 3], [1]];

/// Round values of a logarithmic axis, `most` at most: powers of 2, or decades with a few values
/// between when there is room.
export function logTicks(base, low, high, most = 8) {
  if (base === 2) return thinned(powersOfTwo(low, high), most);
  for (const multiples of kMultiples) {
    const ticks = decades(multiples, low, high);
    if (ticks.length <= most) return ticks;
  }
  return thinned(decades([1], low, high), most);
}

function thinned(ticks, most) {
  const step = Math.max(1, Math.ceil(ticks.length / most));
  return ticks.filter((tick, i) => i % step === 0);
}

function powersOfTwo(low, high) {
  const ticks = [];
  for (let power = Math.ceil(Math.log2(low) - 1e-9); 2 ** power <= high * 1.0001; ++power) {
    ticks.push(2 ** power);
  }
  return ticks;
}

function decades(multiples, low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power) {
    for (const multiple of multiples) {
      const tick = Number(`${multiple}e${power}`);
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}
