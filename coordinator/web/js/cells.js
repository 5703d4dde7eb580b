/// Layouts side by side: a cell is one problem (kernel, batch, context, ...) under every layout.

import { kCellFields, keyOf, summaryOf, timed } from "./erosion.js";
import { pointText, tokensText } from "./format.js";
import { layoutOrder } from "./layout.js";
import { groupBy } from "./rows.js";

/// Cells of the rows: [{key, row, layouts}], most layouts first, then the larger problems.
export function cellsOf(rows) {
  const cells = [];
  for (const [key, group] of groupBy(timed(rows), (row) => keyOf(row, kCellFields))) {
    const layouts = [...groupBy(group, (row) => row.layout).values()].map(summaryOf);
    layouts.sort((a, b) => layoutOrder(a.layout, b.layout));
    cells.push({ key, row: group[0], layouts });
  }
  const size = (cell) => cell.row.batch * cell.row.context;
  return cells.sort((a, b) => b.layouts.length - a.layouts.length || size(b) - size(a));
}

export function cellText({ row }) {
  return pointText(row).replace(` ${row.layout}`, "");
}

/// Numbers of GPUs for which the rows hold layouts to choose from, by size.
export function gpuCounts(rows) {
  const layouts = new Map();
  for (const row of timed(rows)) layouts.set(row.layout, row.tp * row.dp * row.cp);
  return [...new Set(layouts.values())].sort((a, b) => a - b);
}

/// The count with most layouts; of those the largest.  Null of no rows.
export function usualGpuCount(rows) {
  const layouts = new Map();
  for (const row of timed(rows)) layouts.set(row.layout, row.tp * row.dp * row.cp);
  const votes = groupBy([...layouts.values()], (count) => count);
  const ranked = [...votes].sort((a, b) => b[1].length - a[1].length || b[0] - a[0]);
  return ranked.length > 0 ? ranked[0][0] : null;
}

/// Best layout of each batch and context on so many GPUs, other things equal.  A cell holds the
/// winner, the runner-up, and how much longer that takes (0.1 = 10 %); null where nothing ran.
export function bestLayouts(rows, gpus) {
  const own = timed(rows).filter((row) => row.tp * row.dp * row.cp === gpus);
  const batches = [...new Set(own.map((row) => row.batch))].sort((a, b) => a - b);
  const contexts = [...new Set(own.map((row) => row.context))].sort((a, b) => a - b);
  const places = groupBy(own, (row) => `${row.batch} ${row.context}`);
  const cellAt = (batch, context) => {
    const here = places.get(`${batch} ${context}`);
    return here === undefined ? null : winnerOf(here);
  };
  return {
    batches,
    contexts,
    cells: batches.map((batch) => contexts.map((context) => cellAt(batch, context))),
  };
}

function winnerOf(rows) {
  const candidates = [...groupBy(rows, (row) => `${row.layout} ${row.kernel}`).values()]
    .map(summaryOf)
    .sort((a, b) => a.time_us - b.time_us);
  const [winner, second] = candidates;
  return {
    winner,
    second: second ?? null,
    lead: second ? second.time_us / winner.time_us - 1 : null,
    key: keyOf(winner.row, kCellFields),
  };
}

/// One sentence of a cell of the map, for tooltips and screen readers.
export function verdictText(cell) {
  const { winner, second, lead } = cell;
  const where = `B=${winner.row.batch} L=${tokensText(winner.row.context)}`;
  if (second === null) return `${where}: ${winner.layout} is the only layout measured`;
  return `${where}: ${winner.layout} is fastest, ${second.layout} takes ${Math.round(lead * 100)} % longer`;
}
