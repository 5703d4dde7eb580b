import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../../coordinator/web/js/format.js";

test("a figure has three significant digits and no exponent", () => {
  assert.equal(format.figure(0.012345), "0.0123");
  assert.equal(format.figure(4.5), "4.5");
  assert.equal(format.figure(156.96), "157");
  assert.equal(format.figure(12345.6), "12346");
  assert.equal(format.figure(0), "0");
});

test("what is absent or not a number is a dash, never 0", () => {
  for (const nothing of [null, undefined, NaN, Infinity, "7"]) {
    assert.equal(format.figure(nothing), "–");
    assert.equal(format.timeText(nothing), "–");
    assert.equal(format.bytesText(nothing), "–");
    assert.equal(format.percentText(nothing), "–");
    assert.equal(format.tokensText(nothing), "–");
  }
});

test("times, bytes and tokens carry the unit that fits", () => {
  assert.equal(format.timeText(0.5), "500 ns");
  assert.equal(format.timeText(156.9), "157 µs");
  assert.equal(format.timeText(1100), "1.1 ms");
  assert.equal(format.timeText(2.5e6), "2.5 s");
  assert.equal(format.bytesText(1152), "1.15 kB");
  assert.equal(format.bytesText(141e9), "141 GB");
  assert.equal(format.flopsText(2.78e11), "278 GFLOP");
  assert.equal(format.tokensText(65536), "64K");
  assert.equal(format.tokensText(1000), "1000");
  assert.equal(format.tokensText(2097152), "2M");
});

test("spans are told in their two largest units", () => {
  assert.equal(format.spanText(12.4), "12 s");
  assert.equal(format.spanText(200), "3 min 20 s");
  assert.equal(format.spanText(7500), "2 h 5 min");
});
