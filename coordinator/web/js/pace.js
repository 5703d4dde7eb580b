/// How fast a sweep goes, from what the page has seen of it.

const kWindow_s = 60;

/// Points done per second over the last minute, and what is left at that rate.
export class Pace {
  #seen = new Map();

  /// Notes a view of a sweep at a moment in seconds.
  note(sweep, now_s) {
    const done = doneOf(sweep);
    const seen = this.#seen.get(sweep.id) ?? [];
    const last = seen[seen.length - 1];
    if (last === undefined || done !== last.done) seen.push({ now_s, done });
    while (seen.length > 2 && now_s - seen[1].now_s > kWindow_s) seen.shift();
    this.#seen.set(sweep.id, seen);
  }

  /// {rate, left_s}; null until two different counts were seen.
  of(sweep, now_s) {
    const seen = this.#seen.get(sweep.id) ?? [];
    if (seen.length < 2) return { rate: null, left_s: null };
    const first = seen[0];
    const last = seen[seen.length - 1];
    const rate = (last.done - first.done) / Math.max(now_s - first.now_s, 1e-3);
    return { rate, left_s: rate > 0 ? (sweep.points - last.done) / rate : null };
  }
}

export function doneOf(sweep) {
  return sweep.ok + sweep.failed + sweep.skipped + sweep.cancelled;
}

export function isFinished(sweep) {
  return sweep.points > 0 && doneOf(sweep) === sweep.points;
}

/// Reasons of rows that are not ok, most frequent first: [{status, reason, count, row}].
export function troubles(rows) {
  const found = new Map();
  for (const row of rows) {
    if (row.status === "ok") continue;
    const key = `${row.status} ${row.reason}`;
    const known = found.get(key);
    if (known === undefined) {
      found.set(key, { status: row.status, reason: row.reason, count: 1, row });
    } else {
      known.count += 1;
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}
