/// How far a sweep is, and what stood in its way.

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
