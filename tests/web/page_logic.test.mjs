import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf } from "../../coordinator/web/js/event_stream.js";
import { extentOf } from "../../coordinator/web/js/extent.js";
import { layoutOf, layoutOrder } from "../../coordinator/web/js/layout.js";
import { isFinished, troubles } from "../../coordinator/web/js/sweep.js";
import { looksOfLayouts, lookOf } from "../../coordinator/web/js/palette.js";
import * as roof from "../../coordinator/web/js/roof.js";
import { hashOfState, stateFromHash } from "../../coordinator/web/js/state.js";
import { logTicks } from "../../coordinator/web/js/ticks.js";

const h200 = { device: "H200", name: "bf16", tflops: 989.5, gbps: 4800, source: "data sheet" };

test("an address and a state mean each other, whatever a value holds", () => {
  const state = { sweep: 'a&b=c#"<x>', batch: "64", text: "50 % + more" };
  assert.deepEqual(stateFromHash(hashOfState(state)), state);
  assert.equal(hashOfState({ row: "1", batch: "2" }), hashOfState({ batch: "2", row: "1" }));
  assert.deepEqual(stateFromHash("#batch=1&unknown=2&layout="), { batch: "1" });
});

test("layouts are read from their names and ordered by family and size", () => {
  assert.deepEqual(layoutOf("tp4xdp2"), { tp: 4, dp: 2, cp: 1 });
  const names = ["tp4xdp2", "cp8", "tp8", "dp8", "tp1", "tp16", "tp2"];
  assert.deepEqual(names.sort(layoutOrder), ["tp1", "tp2", "tp8", "tp16", "dp8", "cp8", "tp4xdp2"]);
});

test("the ridge is where both roofs meet", () => {
  assert.equal(roof.ridgeOf(h200).toFixed(0), "206");
  assert.equal(roof.attainable(h200, 100), 480);
  assert.equal(roof.attainable(h200, 1000), 989.5);
  const corners = roof.roofCorners(h200, 10, 1000);
  assert.equal(corners.length, 3);
  assert.equal(roof.roofCorners(h200, 300, 1000).length, 2);
});

test("a device nobody described has the best its rows reached for a roof, and it says so", () => {
  const rows = [{ device: "cpu", tflops: 0.1, gbps: 20 }, { device: "cpu", tflops: 0.3, gbps: 10 }];
  const [best] = roof.ceilingsOf(rows, [h200]);
  assert.deepEqual(best, { device: "cpu", tflops: 0.3, gbps: 20, source: "best seen" });
  assert.deepEqual(roof.ceilingsOf([{ device: "H200", tflops: 1, gbps: 1 }], [h200]), [h200]);
  assert.equal(roof.bestSeen([{ device: "x", tflops: null }], "x"), null);
});

test("a roof measured with the rows comes before the data sheet", () => {
  const row = (tflops) => ({ device: "H200", matmul_ceiling_tflops: tflops, read_ceiling_gbps: 4300 });
  const roofs = roof.ceilingsOf([row(700), row(720), row(710), row(null)], [h200]);
  assert.deepEqual(roofs[0], { device: "H200", tflops: 710, gbps: 4300, source: "measured" });
  assert.deepEqual(roofs[1], h200);
  assert.equal(roof.ceilingFor(roofs, { device: "H200" }), roofs[0]);
  assert.equal(roof.ceilingFor(roofs, { device: "another" }), null);
});

test("a sweep is finished when every point has its row, whatever the row says", () => {
  const sweep = { points: 4, ok: 1, failed: 1, skipped: 1, cancelled: 1 };
  assert.ok(isFinished(sweep));
  assert.ok(!isFinished({ ...sweep, ok: 0 }));
  assert.ok(!isFinished({ points: 0, ok: 0, failed: 0, skipped: 0, cancelled: 0 }));
});

test("events are cut from the stream wherever its pieces end, and comments are no events", async () => {
  const text = ': alive\n\nevent: rows\ndata: {"a":\ndata: 1}\n\nevent: stale\ndata: {}\n\n: alive\n\n';
  for (const size of [1, 7, 1000]) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")).map((piece) => Buffer.from(piece));
    const body = new ReadableStream({
      start(stream) {
        for (const piece of pieces) stream.enqueue(piece);
        stream.close();
      },
    });
    const seen = [];
    for await (const event of eventsOf(body)) seen.push(event);
    assert.deepEqual(seen, [
      { name: "rows", data: '{"a":1}' },
      { name: "stale", data: "{}" },
    ]);
  }
});

test("reasons are counted, the most frequent first", () => {
  const row = (status, reason) => ({ status, reason });
  const found = troubles([row("ok", ""), row("failed", "a"), row("skipped", "b"), row("failed", "a")]);
  assert.deepEqual(found.map(({ status, reason, count }) => [status, reason, count]), [
    ["failed", "a", 2],
    ["skipped", "b", 1],
  ]);
});

test("logarithmic ticks are round, and few enough for their room", () => {
  assert.deepEqual(logTicks(10, 8, 1200, 8), [10, 20, 50, 100, 200, 500, 1000]);
  assert.deepEqual(logTicks(10, 8, 1200, 5), [10, 30, 100, 300, 1000]);
  assert.deepEqual(logTicks(10, 8, 1200, 3), [10, 100, 1000]);
  assert.deepEqual(logTicks(2, 0.9, 17, 8), [1, 2, 4, 8, 16]);
  assert.ok(logTicks(10, 1e-6, 1e9, 6).length <= 6);
});

test("ranges hold every value with some air, and log ranges only positive ones", () => {
  const [low, high] = extentOf({ log: 10 }, [10, 100, 0, -5, NaN]);
  assert.ok(low > 0 && low < 10 && high > 100);
  assert.deepEqual(extentOf({ log: 10 }, []), [1, 10]);
  assert.equal(extentOf({ log: 0, min: 0 }, [40, 100])[0], 0);
});

test("no two of the first 64 series look alike, and neighbours differ in shape and dash too", () => {
  const looks = Array.from({ length: 64 }, (_, i) => lookOf(i));
  assert.equal(new Set(looks.map((look) => `${look.colour} ${look.shape}`)).size, 64);
  assert.equal(new Set(looks.slice(0, 8).map((look) => look.shape)).size, 8);
  assert.equal(new Set(looks.slice(0, 8).map((look) => look.dash.join())).size, 8);
  assert.deepEqual(looksOfLayouts(["tp8", "tp1", "tp8"]).get("tp1"), lookOf(0));
});
