// The page computes its erosion figures itself, so that they follow the filter; they must be those of
// the coordinator, which tables, reports and claims are made of.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cellsOf } from "../../coordinator/web/js/cells.js";
import { erosionCurves } from "../../coordinator/web/js/erosion.js";
import { madeRows } from "./made_rows.mjs";
import { makeDatabase, makeFolder, run } from "./programs.mjs";

/// Two repeats and a half of each point; among them failed rows, and rows without counters.
const kRows = 1900;
const kFigures = {
  time_us: "time_us",
  intensity: "intensity_flop_per_byte",
  speedup: "speedup",
  efficiency: "efficiency",
  reuse_retained: "reuse_retained",
  kv_duplication: "kv_duplication",
};
let folder;
let cells;

function withoutSomeCounters(row) {
  return row.started_unix_s % 5 === 0 ? { ...row, intensity_measured: null } : row;
}

before(() => {
  folder = makeFolder();
  const file = folder.file("rows.db");
  makeDatabase(file, { count: kRows, change: withoutSomeCounters });
  ({ cells } = JSON.parse(run("headsplit", ["report", "--db", file, "--format", "json"])));
});

after(() => folder?.remove());

const nameOf = ({ kv_dtype, query_tokens, batch, context }) =>
  [kv_dtype, query_tokens, batch, context].join(" ");

/// The coordinator's lines by problem and layout.
function linesOf(cells) {
  const lines = new Map();
  for (const cell of cells) {
    for (const line of cell.lines) lines.set(`${nameOf(cell)} ${line.layout}`, line);
  }
  return lines;
}

function assertNear(ours, theirs, what) {
  if (ours === null || theirs === null) assert.equal(ours, theirs, what);
  else assert.ok(Math.abs(ours - theirs) <= 1e-9 * Math.abs(theirs), `${what}: ${ours}, ${theirs}`);
}

test("every point of every curve has the figures that the coordinator has", () => {
  const rows = madeRows(kRows).map(withoutSomeCounters);
  const theirs = linesOf(cells);
  let compared = 0;
  for (const curve of erosionCurves(rows)) {
    for (const point of curve.points) {
      const name = `${nameOf(curve.row)} ${point.layout}`;
      const line = theirs.get(name);
      for (const [our, their] of Object.entries(kFigures)) {
        assertNear(point[our], line[their], `${name} ${their}`);
        ++compared;
      }
    }
  }
  assert.equal(compared, 2 * 3 * 4 * 4 * 4 * Object.keys(kFigures).length);
});

test("layouts are compared by the times and intensities that the coordinator has", () => {
  const theirs = linesOf(cells);
  const ours = cellsOf(madeRows(kRows).map(withoutSomeCounters));
  assert.equal(ours.length, cells.length);
  for (const cell of ours) {
    for (const layout of cell.layouts) {
      const name = `${nameOf(cell.row)} ${layout.layout}`;
      assertNear(layout.time_us, theirs.get(name).time_us, name);
      assertNear(layout.intensity, theirs.get(name).intensity_flop_per_byte, name);
    }
  }
});
