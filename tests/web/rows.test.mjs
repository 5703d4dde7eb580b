import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf } from "../../coordinator/web/js/csv.js";
import * as rows from "../../coordinator/web/js/rows.js";
import { columnsOf, madeRows } from "./made_rows.mjs";

const reply = {
  count: 3,
  columns: {
    point_id: { values: ["a", "b", "c"] },
    layout: { words: ["tp1", "tp8"], index: [0, 1, 0] },
    model: { all: "deepseek-v3" },
    batch: { values: [1, 16, 128] },
    status: { words: ["ok", "failed"], index: [0, 0, 1] },
    time_us: { values: [10, 5, null] },
    reason: { words: ["", "out of memory"], index: [0, 0, 1] },
  },
};

test("columns become rows, whichever way a column is written", () => {
  const list = rows.rowsFromColumns(reply);
  assert.equal(list.length, 3);
  assert.deepEqual(list.map((row) => row.layout), ["tp1", "tp8", "tp1"]);
  assert.equal(list[2].model, "deepseek-v3");
  assert.equal(list[2].time_us, null);
});

test("a filter compares as text, as the address bar has it, and an empty one holds nothing back", () => {
  const list = rows.rowsFromColumns(reply);
  assert.deepEqual(rows.matching(list, { batch: "16" }).map((row) => row.point_id), ["b"]);
  assert.equal(rows.matching(list, { batch: "" }).length, 3);
  assert.equal(rows.matching(list, { batch: "16", layout: "tp1" }).length, 0);
});

test("every word of a search must occur somewhere in a row", () => {
  const list = rows.rowsFromColumns(reply);
  assert.deepEqual(rows.containing(list, "TP1 memory").map((row) => row.point_id), ["c"]);
  assert.equal(rows.containing(list, "  ").length, 3);
});

test("absent values sort last both ways", () => {
  const list = rows.rowsFromColumns(reply);
  assert.deepEqual(rows.sorted(list, "time_us", false).map((row) => row.point_id), ["b", "a", "c"]);
  assert.deepEqual(rows.sorted(list, "time_us", true).map((row) => row.point_id), ["a", "b", "c"]);
});

test("a newer row of a point takes the older one's place", () => {
  const list = new rows.RowList();
  list.replace(rows.rowsFromColumns(reply));
  list.put({ point_id: "b", status: "failed" });
  assert.equal(list.all.length, 3);
  assert.equal(list.all[1].status, "failed");
  assert.equal(list.find("nobody"), null);
});

test("numbers are ordered by size, not by their digits", () => {
  assert.deepEqual(rows.valuesOf(rows.rowsFromColumns(reply), "batch"), [1, 16, 128]);
});

test("a median of nothing is nothing", () => {
  assert.equal(rows.median([]), null);
  assert.equal(rows.median([null, undefined]), null);
  assert.equal(rows.median([3, 1, 2]), 2);
  assert.equal(rows.median([4, 1, null]), 2.5);
});

test("CSV quotes what would break a line, and leaves absent values empty", () => {
  const made = [{ a: 'say "no"', b: null, c: "x,y" }, { a: "line\nbreak", b: 0, c: "" }];
  const text = csvOf(made, ["a", "b", "c"]);
  assert.equal(text, 'a,b,c\r\n"say ""no""",,"x,y"\r\n"line\nbreak",0,\r\n');
});

test("made rows survive the way through columns", () => {
  const made = madeRows(40);
  const back = rows.rowsFromColumns(columnsOf(made));
  assert.equal(back[7].time_us, made[7].time_us);
  assert.equal(back[7].layout, made[7].layout);
});
