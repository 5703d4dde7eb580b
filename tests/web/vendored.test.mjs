// What is vendored is what the lock file names.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

const web = new URL("../../coordinator/web/", import.meta.url);
const read = (path) => readFileSync(new URL(path, web), "utf8");
const installed = existsSync(new URL("node_modules/uplot", web));
const skip = installed ? false : "npm ci --prefix coordinator/web --ignore-scripts";

test("the vendored uPlot is the locked package, byte for byte", { skip }, () => {
  assert.equal(read("vendor/uPlot.iife.min.js"), read("node_modules/uplot/dist/uPlot.iife.min.js"));
  assert.equal(read("vendor/uPlot.min.css"), read("node_modules/uplot/dist/uPlot.min.css"));
  assert.equal(read("vendor/uPlot.LICENSE"), read("node_modules/uplot/LICENSE"));
});

test("the vendored uPlot says the version that the lock file has", () => {
  const lock = JSON.parse(read("package-lock.json"));
  const { version } = lock.packages["node_modules/uplot"];
  assert.match(read("vendor/uPlot.iife.min.js").slice(0, 200), new RegExp(`v${version}`));
});

test("the lock file records no download address", () => {
  assert.doesNotMatch(read("package-lock.json"), /https?:\/\//);
});
