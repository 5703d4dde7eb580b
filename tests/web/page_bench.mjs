// The page's speed: 10,000 rows on screen in under a second, and no hang while sixty agents speak
// and end a point each, every second, on top of them.  Exit 1 when a limit is missed.

import { startBrowser } from "./browser.mjs";
import { connectAgents } from "./made_agents.mjs";
import { madeRows } from "./made_rows.mjs";
import { makeDatabase, makeFolder, startCoordinator } from "./programs.mjs";
import { firstPlot_ms, longestHang, weight_bytes } from "./watch_page.mjs";

const kRows = 10000;
const kAgents = 60;
const kWaiting = 2000;
const kOpenings = 7;
const kWatched_ms = 8000;
const kLimits = { first_plot_ms: 1000, longest_task_ms: 200, page_bytes: 1_000_000 };

async function openings(browser, url) {
  const times = [];
  let bytes = 0;
  for (let i = 0; i < kOpenings; ++i) {
    const page = await browser.open(url);
    times.push(await firstPlot_ms(page));
    bytes = await weight_bytes(page);
    await page.close();
  }
  times.sort((a, b) => a - b);
  return { first_plot_ms: times[kOpenings >> 1], least_ms: times[0], most_ms: times.at(-1), bytes };
}

function rowsOf(page) {
  return page.evaluate(() => Number(document.querySelector("#rows .headline").textContent.split(" ")[0]));
}

/// A page that is watched while rows arrive; rows_per_s: how many came.
async function underLoad(browser, url) {
  const speakers = await browser.open(`${url}/assets/icon.svg`);
  await connectAgents(speakers, kAgents, madeRows(kRows + kWaiting).slice(kRows));
  const page = await browser.open(url);
  await page.getByText(`${kAgents} connected`).waitFor();
  await page.locator("#rows .headline", { hasText: /^1\d{4} of/ }).waitFor();
  const before = await rowsOf(page);
  const hang = await longestHang(page, kWatched_ms);
  const rows_per_s = ((await rowsOf(page)) - before) / (kWatched_ms / 1000);
  if (page.faults.length > 0) throw new Error(page.faults.join());
  return { ...hang, rows_per_s };
}

async function main() {
  const folder = makeFolder();
  const browser = await startBrowser();
  const file = folder.file("rows.db");
  makeDatabase(file, { count: kRows + kWaiting, stored: kRows });
  const coordinator = await startCoordinator(file);
  try {
    const open = await openings(browser, coordinator.url);
    const load = await underLoad(browser, coordinator.url);
    return [
      ["first plot of 10,000 rows", "ms", open.first_plot_ms, kLimits.first_plot_ms,
        `median of ${kOpenings}, ${Math.round(open.least_ms)} to ${Math.round(open.most_ms)}`],
      ["longest task, 60 agents", "ms", load.task_ms, kLimits.longest_task_ms,
        `${load.rows_per_s.toFixed(0)} rows/s came; longest pause between frames ${Math.round(load.frame_ms)} ms`],
      ["page weight", "bytes", open.bytes, kLimits.page_bytes, "unpacked, without data"],
    ];
  } finally {
    await browser.close();
    await coordinator.end();
    folder.remove();
  }
}

const results = await main();
const missed = results.filter(([, , value, limit]) => !(value < limit));
for (const [what, unit, value, limit, note] of results) {
  if (process.argv.includes("--json")) {
    console.log(JSON.stringify({ what, unit, value, limit, note, reached: value < limit }));
  } else {
    const verdict = value < limit ? "ok" : "MISSED";
    console.log(`${what.padEnd(28)} ${Math.round(value)} ${unit}, limit ${limit}: ${verdict} (${note})`);
  }
}
process.exitCode = missed.length > 0 ? 1 : 0;
