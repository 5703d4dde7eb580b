// Makes the pictures of docs/web.md anew:  HEADSPLIT_BIN=build/release/bin node tests/web/screenshots.mjs
// From the rows of evidence/h200, and from a sweep on this machine's CPU.

import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startBrowser } from "./browser.mjs";
import { makeFolder, run, start, startCoordinator, submit } from "./programs.mjs";

const root = new URL("../../", import.meta.url);
const kRows = fileURLToPath(new URL("evidence/h200/tp-erosion-main.jsonl", root));
const kLaptop = { width: 1080, height: 940 };
const kPhone = { width: 390, height: 844 };
const kSettle_ms = 800;
const kSweep = `
name: cpu-erosion
model: deepseek-v3
kernels: [mla_dense]
layouts: [{tp: 1}, {tp: 2}, {tp: 4}, {tp: 8}, {dp: 8}, {cp: 8}]
axes: {batch: [1, 4], query_tokens: [1, 2], context: [256, 1K], kv_dtype: [bf16, fp8]}
measure: {l2: cold, min_time_ms: 5, max_time_ms: 100}
`;

function picture(name) {
  return fileURLToPath(new URL(`docs/images/${name}.png`, root));
}

async function opened(browser, url, options) {
  const page = await browser.open(url, options);
  await page.waitForFunction(() => performance.getEntriesByName("first-plot").length > 0);
  await page.waitForTimeout(kSettle_ms);
  return page;
}

async function shoot(browser, name, url, options, at = null) {
  const page = await opened(browser, url, options);
  if (at) await page.evaluate((at) => document.querySelector(at).scrollIntoView(), at);
  await page.waitForTimeout(kSettle_ms);
  await page.screenshot({ path: picture(name) });
  await page.close();
}

async function ofEvidence(browser, folder) {
  const database = folder.file("evidence.db");
  run("web_rows_to_db", [database, "tp-erosion-main"], { input: readFileSync(kRows) });
  const coordinator = await startCoordinator(database);
  const { url } = coordinator;
  await shoot(browser, "page-light", url, { ...kLaptop, height: 1030 });
  await shoot(browser, "page-dark", url, { ...kLaptop, height: 860, dark: true }, "#erosion");
  await shoot(browser, "page-phone", url, kPhone, "#roofline");
  await shoot(browser, "layouts", url, { width: 1080, height: 720 }, "#layouts");
  const page = await opened(browser, url, kLaptop);
  const row = await page.locator("#rows tbody a").nth(3).getAttribute("href");
  await page.close();
  await shoot(browser, "row", `${url}/${row}`, { width: 900, height: 720 });
  await coordinator.end();
  const report = folder.file("report.html");
  run("headsplit", ["report", "--db", database, "--out", report]);
  await shoot(browser, "report", pathToFileURL(report).href, { ...kLaptop, height: 920 });
}

async function ofLiveSweep(browser, folder) {
  const coordinator = await startCoordinator(folder.file("live.db"));
  const agents = ["cpu-0", "cpu-1"].map((name) =>
    start("headsplit-agent", ["--coordinator", coordinator.url, "--backend", "cpu", "--name", name]),
  );
  const page = await browser.open(coordinator.url, { width: 1080, height: 860 });
  await page.getByText("2 connected").waitFor();
  await submit(coordinator.url, kSweep);
  await page.locator("#rows .headline", { hasText: /^[3-9]\d of/ }).waitFor({ timeout: 120000 });
  await page.screenshot({ path: picture("live") });
  await page.close();
  for (const agent of agents) await agent.end();
  await coordinator.end();
}

const folder = makeFolder();
const browser = await startBrowser();
await ofEvidence(browser, folder);
await ofLiveSweep(browser, folder);
await browser.close();
folder.remove();
