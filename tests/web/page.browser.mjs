// The coordinator's page over 10,000 rows: its views, filters, permalinks, and how soon it draws.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fitsItsWidth, hoverAPoint, startBrowser } from "./browser.mjs";
import { madeRows } from "./made_rows.mjs";
import { makeDatabase, makeFolder, startCoordinator } from "./programs.mjs";
import { firstPlot_ms, weight_bytes } from "./watch_page.mjs";

const kName = '<b onmouseover="window.bitten=1">sweep</b><script>window.bitten=1</script>';
const kRows = 10000;
/// Far more than it takes (page_bench.mjs holds it to a second): this may run beside anything.
const kPatience_ms = 15000;
let browser;
let coordinator;
let folder;

before(async () => {
  folder = makeFolder();
  makeDatabase(folder.file("rows.db"), { count: kRows, name: kName });
  coordinator = await startCoordinator(folder.file("rows.db"));
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  await coordinator?.end();
  folder?.remove();
});

/// A page that has drawn everything.
async function openPage(hash = "", options = {}) {
  const page = await browser.open(`${coordinator.url}/${hash}`, options);
  await page.locator("#rows .headline", { hasText: `of ${kRows} rows` }).waitFor();
  return page;
}

test("10,000 rows are drawn soon, and without a fault", async (context) => {
  const page = await openPage();
  const first_ms = await firstPlot_ms(page);
  context.diagnostic(`first plot after ${Math.round(first_ms)} ms`);
  assert.equal(await page.locator("#rows .headline").innerText(), `${kRows} of ${kRows} rows`);
  assert.ok(first_ms < kPatience_ms, `${first_ms} ms`);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("the page and all its files weigh less than a megabyte", async (context) => {
  const page = await openPage();
  const bytes = await weight_bytes(page);
  context.diagnostic(`${bytes} bytes`);
  assert.ok(bytes > 100_000 && bytes < 1_000_000);
  await page.close();
});

test("the mouse and the keyboard find points of the roofline, and Enter opens the row", async () => {
  const page = await openPage();
  assert.match(await hoverAPoint(page, "#roofline"), /FLOP\/byte/);
  await page.mouse.move(0, 0);
  await page.locator("#roofline .plot-frame").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#roofline .tip").innerText(), /FLOP\/byte/);
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]");
  assert.match(page.url(), /row=[0-9a-f]{16}/);
  await page.close();
});

test("a filter narrows every view, and its address shows the same to others", async () => {
  const page = await openPage();
  await page.getByLabel("Layout", { exact: true }).selectOption("tp8");
  await page.getByLabel("Batch", { exact: true }).selectOption("128");
  assert.match(page.url(), /layout=tp8/);
  const wanted = madeRows(kRows).filter((row) => row.layout === "tp8" && row.batch === 128).length;
  const count = `${wanted} of ${kRows} rows`;
  await page.locator("#rows .headline", { hasText: count }).waitFor();
  const other = await openPage(new URL(page.url()).hash);
  assert.equal(await other.locator("#rows .headline").innerText(), count);
  const layouts = await other.locator("#rows tbody td:nth-child(3)").allInnerTexts();
  assert.deepEqual([...new Set(layouts)], ["tp8"]);
  assert.ok((await other.locator("#layouts tbody tr").count()) > 1, "a comparison needs all layouts");
  await other.goBack();
  await page.close();
  await other.close();
});

test("a heading sorts the table, down and up again, and says so", async () => {
  const page = await openPage("#status=ok");
  const heading = page.locator("#rows thead [data-field=time_us]");
  await heading.click();
  await heading.click();
  await page.waitForSelector('#rows thead th[aria-sort="descending"] [data-field=time_us]');
  assert.match(page.url(), /sort=time_us.down/);
  const first = await page.locator("#rows tbody tr:first-child td:nth-child(8)").innerText();
  assert.match(first, /ms$/);
  await page.close();
});

test("the permalink of a row shows its samples and where each figure comes from", async () => {
  const page = await openPage();
  const address = await page.locator("#rows tbody a").first().getAttribute("href");
  const other = await openPage(address);
  await other.waitForSelector("dialog[open] .samples");
  assert.match(await other.locator("dialog").innerText(), /20 samples in launch order/);
  const badges = await other.locator("dialog .badge").allInnerTexts();
  assert.ok(badges.includes("measured") && badges.includes("model"));
  await page.close();
  await other.close();
});

test("the map of best layouts leads to the comparison of its cell", async () => {
  const page = await openPage();
  const cell = page.locator("#map td button").last();
  const best = await cell.locator("strong").innerText();
  await cell.click();
  await page.waitForFunction(() => location.hash.includes("cell="));
  const fastest = page.locator("#layouts tbody tr", { hasText: "1×" });
  assert.match(await fastest.first().innerText(), new RegExp(best.trim()));
  await page.close();
});

test("markup in a sweep's name stays text", async () => {
  const page = await openPage();
  assert.match(await page.locator("#sweep select").innerText(), /<b onmouseover=/);
  assert.equal(await page.locator("main b, header b").count(), 0);
  assert.equal(await page.evaluate(() => window.bitten), undefined);
  await page.close();
});

test("rows are downloaded as CSV and JSON lines", async () => {
  const page = await openPage();
  for (const [button, first] of [["Download CSV", /^point_id,/], ["Download JSON lines", /^{"point_id"/]]) {
    const href = await page.getByText(button).getAttribute("href");
    const text = await (await fetch(coordinator.url + href)).text();
    assert.match(text, first);
    assert.ok(text.split("\n").length > 10000);
  }
  await page.close();
});

test("a phone and a dark screen show the page without scrolling sideways", async () => {
  const page = await openPage("", { width: 360, height: 740, dark: true });
  assert.ok(await fitsItsWidth(page));
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(paper, "rgb(17, 22, 28)");
  await page.close();
});
