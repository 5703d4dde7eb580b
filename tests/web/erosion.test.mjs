import assert from "node:assert/strict";
import { test } from "node:test";
import * as cells from "../../coordinator/web/js/cells.js";
import * as erosion from "../../coordinator/web/js/erosion.js";
import { sliceOf } from "../../coordinator/web/js/slice.js";

function row(changes) {
  const layout = { tp: 1, dp: 1, cp: 1, ...changes };
  return {
    status: "ok",
    model: "deepseek-v3",
    kernel: "mla_dense",
    kv_dtype: "bf16",
    device: "one",
    l2: "cold",
    lengths: "equal",
    ranks: "emulated",
    query_tokens: 1,
    batch: 128,
    context: 8192,
    repeat: 0,
    layout: `tp${layout.tp}`,
    ...layout,
  };
}

// B=128, L=8192 on an H200, published: TP=1/2/4/8 in microseconds.
const published = [
  row({ tp: 1, time_us: 498, intensity_model: 235, kv_bytes_model: 1.2e9 }),
  row({ tp: 2, time_us: 298, intensity_model: 119, kv_bytes_model: 1.2e9 }),
  row({ tp: 4, time_us: 294, intensity_model: 60, kv_bytes_model: 1.2e9 }),
  row({ tp: 8, time_us: 290, intensity_model: 30, kv_bytes_model: 1.2e9 }),
];

test("a curve tells speed-up, efficiency and reuse against TP=1", () => {
  const [curve] = erosion.erosionCurves(published);
  assert.deepEqual(curve.points.map((point) => point.tp), [1, 2, 4, 8]);
  const last = curve.points[3];
  assert.equal(last.speedup.toFixed(2), "1.72");
  assert.equal(last.efficiency.toFixed(2), "0.21");
  assert.equal(last.reuse_retained.toFixed(3), "0.128");
  assert.equal(last.kv_duplication, 8);
  assert.equal(last.kv_bytes_all, 9.6e9);
  assert.equal(last.ideal_us, 498 / 8);
});

test("K and V that go with their heads are not copied", () => {
  const copies = (kernel, bytes) => {
    const rows = published.map((one) => ({ ...one, kernel }));
    const [curve] = erosion.erosionCurves(
      rows.map((one) => ({ ...one, kv_bytes_model: bytes(one.tp) })),
    );
    return curve.points.map((point) => point.kv_duplication);
  };
  assert.deepEqual(copies("mha_decode", (tp) => 8e9 / tp), [1, 1, 1, 1]);
  assert.deepEqual(copies("gqa_decode", (tp) => 4e9 / Math.min(tp, 4)), [1, 1, 1, 2]);
  const [alone] = erosion.erosionCurves(
    published.slice(1).map((one) => ({ ...one, kernel: "gqa_decode" })),
  );
  assert.equal(alone.points[0].kv_duplication, null);
});

test("without TP=1 there is nothing to compare with, and no ratio is made up", () => {
  const [curve] = erosion.erosionCurves(published.slice(1));
  assert.equal(curve.points[0].speedup, null);
  assert.equal(curve.points[0].efficiency, null);
  assert.equal(curve.points[0].reuse_retained, null);
});

test("reuse compares counted with counted, and the model with the model", () => {
  const counted = { ...published[0], intensity_measured: 200 };
  const [half] = erosion.erosionCurves([counted, published[3]]);
  assert.equal(half.points[1].reuse_retained.toFixed(3), "0.128");
  const [both] = erosion.erosionCurves([counted, { ...published[3], intensity_measured: 50 }]);
  assert.equal(both.points[1].reuse_retained, 0.25);
});

test("other layouts, failed rows and single points make no curve", () => {
  const others = [row({ dp: 8, layout: "dp8", time_us: 1 }), row({ tp: 2, status: "failed" })];
  assert.deepEqual(erosion.erosionCurves(others), []);
  assert.deepEqual(erosion.erosionCurves(published.slice(0, 1)), []);
});

test("repeats of a point count as their median", () => {
  const again = [600, 490].map((time_us, i) => ({ ...published[0], time_us, repeat: i + 1 }));
  const [curve] = erosion.erosionCurves([...published, ...again]);
  assert.equal(curve.points[0].time_us, 498);
  assert.equal(curve.points[0].rows.length, 3);
});

test("a counted intensity is preferred to the model's", () => {
  assert.equal(erosion.intensityOf({ intensity_measured: 200, intensity_model: 240 }), 200);
  assert.equal(erosion.intensityOf({ intensity_measured: null, intensity_model: 240 }), 240);
});

test("labels name only what differs", () => {
  const items = [row({ query_tokens: 1 }), row({ query_tokens: 2 })];
  assert.deepEqual(erosion.labelsOf(items), ["T=1", "T=2"]);
  assert.match(erosion.commonText(items), /deepseek-v3, mla_dense, bf16, B=128, L=8K/);
});

test("a cell holds one problem under every layout", () => {
  const rows = [...published, row({ dp: 8, layout: "dp8", time_us: 70 }), row({ batch: 1, time_us: 20 })];
  const [first, second] = cells.cellsOf(rows);
  assert.deepEqual(first.layouts.map((one) => one.layout), ["tp1", "tp2", "tp4", "tp8", "dp8"]);
  assert.equal(second.row.batch, 1);
});

test("the best layout is chosen among layouts of as many GPUs", () => {
  const rows = [...published, row({ dp: 8, layout: "dp8", time_us: 140 })];
  const map = cells.bestLayouts(rows, 8);
  assert.deepEqual([map.batches, map.contexts], [[128], [8192]]);
  const [[cell]] = map.cells;
  assert.equal(cell.winner.layout, "dp8");
  assert.equal(cell.second.layout, "tp8");
  assert.equal(cell.lead.toFixed(2), "1.07");
  assert.match(cells.verdictText(cell), /dp8 is fastest, tp8 takes 107 % longer/);
  assert.deepEqual(cells.gpuCounts(rows), [1, 2, 4, 8]);
  assert.equal(cells.usualGpuCount(rows), 8);
});

test("a place where nothing ran is empty, not zero", () => {
  const rows = [published[3], row({ tp: 8, batch: 1, context: 1024, time_us: 15 })];
  assert.equal(cells.bestLayouts(rows, 8).cells[0][1], null);
  assert.equal(cells.usualGpuCount([]), null);
});

test("a slice holds what has a choice, at its commonest value", () => {
  const rows = [...published, row({ kv_dtype: "fp8", time_us: 9 })];
  const slice = sliceOf(rows, ["kv_dtype", "model"]);
  assert.deepEqual(slice.held, { kv_dtype: "bf16" });
  assert.equal(slice.rows.length, 4);
});
