/// Rows as the server sends them, and questions to a list of rows.

/// Rows of a column-wise reply: each column is {"all": v}, {"values": [...]} or
/// {"words": [...], "index": [...]}.
export function rowsFromColumns(reply) {
  // What never changes is shared by all rows through their prototype: 10,000 rows stay cheap.
  const constants = {};
  const varying = [];
  for (const [name, column] of Object.entries(reply.columns)) {
    if (column.all === undefined) varying.push([name, readerOf(column)]);
    else constants[name] = column.all;
  }
  const rows = [];
  for (let i = 0; i < reply.count; ++i) {
    const row = Object.create(constants);
    for (const [name, value] of varying) row[name] = value(i);
    rows.push(row);
  }
  return rows;
}

function readerOf({ values, words, index }) {
  return values !== undefined ? (i) => values[i] : (i) => words[index[i]];
}

/// One row more, or a newer one of the same point.  Keeps the order of first appearance.
export class RowList {
  #rows = [];
  #positions = new Map();

  get all() {
    return this.#rows;
  }

  put(row) {
    const position = this.#positions.get(row.point_id);
    if (position === undefined) {
      this.#positions.set(row.point_id, this.#rows.length);
      this.#rows.push(row);
    } else {
      this.#rows[position] = row;
    }
  }

  replace(rows) {
    this.#rows = [];
    this.#positions.clear();
    for (const row of rows) this.put(row);
  }

  find(pointId) {
    const position = this.#positions.get(pointId);
    return position === undefined ? null : this.#rows[position];
  }
}

/// Columns that the filter bar can hold to one value.
export const kFilterFields = [
  "status",
  "kernel",
  "layout",
  "batch",
  "query_tokens",
  "context",
  "kv_dtype",
  "l2",
  "lengths",
  "ranks",
  "device",
  "model",
];

/// Words are looked for here.
const kTextFields = [...kFilterFields, "point_id", "agent", "node", "reason", "limiter"];

/// Rows that have every wanted value; values are compared as text, as the address bar has them.
export function matching(rows, wanted) {
  const conditions = kFilterFields.filter((field) => wanted[field]);
  return rows.filter((row) =>
    conditions.every((field) => String(row[field]) === String(wanted[field])),
  );
}

/// Rows in which every word occurs somewhere.
export function containing(rows, text) {
  const words = (text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const hay = kTextFields.map((field) => row[field] ?? "").join(" ").toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

/// The different values of a field, numbers by size and words by the alphabet.
export function valuesOf(rows, field) {
  const values = [...new Set(rows.map((row) => row[field]))];
  return values.filter((value) => value !== null && value !== undefined && value !== "").sort(order);
}

export function order(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/// Sorted by a field; absent values last whichever way it goes.
export function sorted(rows, field, descending) {
  const absent = (value) => value === null || value === undefined || value === "";
  return [...rows].sort((a, b) => {
    if (absent(a[field]) || absent(b[field])) return absent(a[field]) - absent(b[field]);
    return descending ? order(b[field], a[field]) : order(a[field], b[field]);
  });
}

export function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/// Middle value, or null of nothing.  Absent values do not count.
export function median(values) {
  const known = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (known.length === 0) return null;
  const middle = known.length >> 1;
  return known.length % 2 === 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}
