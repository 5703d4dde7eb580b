// A real headless Chromium for tests, and what is missing when there is none.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

/// A name that the browser of the tests resolves to this machine.
export const kReboundName = "rebound.example";
const kChromium = "/usr/bin/chromium";
const kFlags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--host-resolver-rules=MAP ${kReboundName} 127.0.0.1`,
];
const require = createRequire(new URL("../../coordinator/web/package.json", import.meta.url));

/// What to install before these tests can run; empty when all is there.
export function missing() {
  const wanted = [];
  if (!existsSync(kChromium)) wanted.push("chromium: apt-get install chromium");
  try {
    require.resolve("playwright-core");
  } catch {
    wanted.push("playwright-core: npm ci --prefix coordinator/web --ignore-scripts");
  }
  return wanted;
}

/// A browser with a profile of its own.  open(url, options) gives a page whose errors are kept in
/// `faults`; close() ends all.
export async function startBrowser() {
  const { chromium } = require("playwright-core");
  const profile = mkdtempSync(join(tmpdir(), "headsplit-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: kChromium,
    args: kFlags,
    viewport: { width: 1280, height: 900 },
    acceptDownloads: true,
  });
  context.setDefaultTimeout(30000);
  return {
    context,
    async open(url, { width = 1280, height = 900, dark = false } = {}) {
      const page = await context.newPage();
      page.faults = [];
      page.on("pageerror", (error) => page.faults.push(String(error.stack ?? error)));
      page.on("console", (message) => {
        if (message.type() === "error") page.faults.push(message.text());
      });
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
      await page.goto(url);
      return page;
    },
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/// Moves the mouse over a plot until it finds a point, and gives the tooltip's text.
export async function hoverAPoint(page, view) {
  const over = page.locator(`${view} .u-over`).first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const tip = page.locator(`${view} .tip`).first();
  for (let row = 1; row < 8; ++row) {
    for (let column = 1; column < 20; ++column) {
      await page.mouse.move(box.x + (box.width * column) / 20, box.y + (box.height * row) / 8);
      if (await tip.isVisible()) return tip.innerText();
    }
  }
  return null;
}

/// Whether the page can be read without scrolling sideways.
export function fitsItsWidth(page) {
  return page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
}
