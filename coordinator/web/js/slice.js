/// Holding fields to one value each, so that what is compared differs in one thing only.

import { groupBy, order } from "./rows.js";

/// The value of a field that most rows have; of equals the first in order.
function usual(rows, field) {
  const votes = [...groupBy(rows, (row) => row[field])];
  votes.sort((a, b) => b[1].length - a[1].length || order(a[0], b[0]));
  return votes[0][0];
}

/// Rows that agree in all `fields`, and the values they agree in where there was a choice.
export function sliceOf(rows, fields) {
  const held = {};
  let kept = rows;
  for (const field of fields) {
    if (new Set(kept.map((row) => row[field])).size <= 1) continue;
    held[field] = usual(kept, field);
    kept = kept.filter((row) => row[field] === held[field]);
  }
  return { rows: kept, held };
}

/// "kernel mla_dense, T=1" for a caption: what was held, so that the reader can choose otherwise.
export function heldText(held) {
  const names = { query_tokens: "query tokens", kv_dtype: "KV cache", l2: "L2" };
  return Object.entries(held)
    .map(([field, value]) => `${names[field] ?? field} ${value}`)
    .join(", ");
}
