/// Rows as comma-separated values (RFC 4180).

function cell(value) {
  if (value === null || value === undefined) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/// A heading line, then one line a row.
export function csvOf(rows, names) {
  const lines = rows.map((row) => names.map((name) => cell(row[name])).join(","));
  return [names.join(","), ...lines].join("\r\n") + "\r\n";
}
