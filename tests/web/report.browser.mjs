// A report is one file that works from file:// and trusts nothing it shows.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { fitsItsWidth, hoverAPoint, startBrowser } from "./browser.mjs";
import { makeDatabase, makeFolder, run } from "./programs.mjs";

const kName = '<img src=x onerror="window.bitten=1"></script><script>window.bitten=1</script>';
let browser;
let folder;
let url;

before(async () => {
  folder = makeFolder();
  makeDatabase(folder.file("rows.db"), {
    count: 400,
    name: kName,
    change: (row) => (row.status === "failed" ? { ...row, reason: kName } : row),
  });
  run("headsplit", ["report", "--db", folder.file("rows.db"), "--out", folder.file("report.html")]);
  url = pathToFileURL(folder.file("report.html")).href;
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  folder?.remove();
});

test("a report opens from file:// and draws its plots", async () => {
  const page = await browser.open(url);
  await page.waitForSelector("#roofline .u-over");
  assert.equal(await page.locator("#erosion canvas").count(), 6);
  assert.match(await page.locator("#rows .headline").innerText(), /400 of 400 rows/);
  assert.match(await hoverAPoint(page, "#roofline"), /FLOP\/byte/);
  assert.deepEqual(page.faults, []);
  assert.ok(statSync(folder.file("report.html")).size < 1_000_000);
});

test("markup in a sweep's name and in reasons stays text", async () => {
  const page = await browser.open(`${url}#status=failed`);
  await page.waitForSelector("#rows tbody tr.failed");
  assert.match(await page.locator("#rows tbody .reason").first().innerText(), /<img src=x/);
  assert.match(await page.locator("#progress .troubles").innerText(), /<img src=x/);
  assert.equal(await page.evaluate(() => window.bitten), undefined);
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(page.faults, []);
});

test("a script that got into a report would not run: its policy names the report's own only", async () => {
  const page = await browser.open(url);
  await page.waitForSelector("#roofline .u-over");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.bitten = 1";
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => window.bitten), undefined);
  assert.match(page.faults.join(), /Content Security Policy/);
});

test("a permalink of a row opens it, with where each figure comes from", async () => {
  const page = await browser.open(url);
  await page.waitForSelector("#rows tbody a");
  const address = await page.locator("#rows tbody a").first().getAttribute("href");
  const other = await browser.open(url + address);
  await other.waitForSelector("dialog[open]");
  const text = await other.locator("dialog").innerText();
  assert.match(text, /DRAM bytes read/);
  assert.match(text, /measured/);
  assert.match(text, /model/);
  await other.keyboard.press("Escape");
  await other.waitForSelector("dialog:not([open])", { state: "attached" });
  assert.doesNotMatch(other.url(), /row=/);
});

test("the report gives its rows as CSV", async () => {
  const page = await browser.open(url);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByText("Download CSV").click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\r\n");
  assert.match(lines[0], /^point_id,|,time_us,/);
  assert.equal(lines.length, 401);
});

test("a report is read on a phone without scrolling sideways", async () => {
  const page = await browser.open(url, { width: 360, height: 740 });
  await page.waitForSelector("#roofline .u-over");
  assert.ok(await fitsItsWidth(page));
});
