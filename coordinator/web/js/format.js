/// Numbers as people read them, with their units.

const kAbsent = "–";

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/// Three significant digits, without exponents or trailing zeros: 0.0123, 4.5, 157, 1240.
export function figure(value) {
  if (!isNumber(value)) return kAbsent;
  if (Math.abs(value) >= 1000) return String(Math.round(value));
  const rounded = Number(value.toPrecision(3));
  return Math.abs(rounded) < 1e-4 && rounded !== 0 ? value.toExponential(1) : String(rounded);
}

function scaled(value, steps) {
  if (!isNumber(value)) return kAbsent;
  const step = steps.find(([size]) => Math.abs(value) >= size) ?? steps[steps.length - 1];
  return `${figure(value / step[0])} ${step[1]}`;
}

/// A time given in microseconds.
export function timeText(us) {
  return scaled(us, [[1e6, "s"], [1e3, "ms"], [1, "µs"], [1e-3, "ns"]]);
}

/// Decimal bytes, as memory vendors count them.
export function bytesText(bytes) {
  return scaled(bytes, [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);
}

export function flopsText(flops) {
  return scaled(flops, [[1e12, "TFLOP"], [1e9, "GFLOP"], [1e6, "MFLOP"], [1, "FLOP"]]);
}

export function percentText(ratio) {
  return isNumber(ratio) ? `${figure(ratio * 100)} %` : kAbsent;
}

export function timesText(ratio) {
  return isNumber(ratio) ? `${figure(ratio)}×` : kAbsent;
}

/// Tokens in binary thousands where they are whole: 8192 is 8K, 100 stays 100.
export function tokensText(tokens) {
  if (!isNumber(tokens)) return kAbsent;
  if (tokens >= 1048576 && tokens % 1048576 === 0) return `${tokens / 1048576}M`;
  return tokens >= 1024 && tokens % 1024 === 0 ? `${tokens / 1024}K` : String(tokens);
}

/// A span of seconds as the two largest units: 12 s, 3 min 20 s, 2 h 5 min.
export function spanText(seconds) {
  if (!isNumber(seconds)) return kAbsent;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/// A moment given in Unix seconds, in the reader's own time zone.
export function momentText(unixSeconds) {
  if (!isNumber(unixSeconds) || unixSeconds <= 0) return kAbsent;
  return `${new Date(unixSeconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/// The point of a row in one line: "mla_dense tp4 B=64 T=1 L=8K bf16".
export function pointText(row) {
  const tokens = tokensText(row.context);
  return `${row.kernel} ${row.layout} B=${row.batch} T=${row.query_tokens} L=${tokens} ${row.kv_dtype}`;
}
