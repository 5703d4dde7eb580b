// How a page feels to whoever uses it: how soon it shows something, and how long it ever hangs.

/// Milliseconds from opening the page until its first plot was on the screen.
export async function firstPlot_ms(page) {
  await page.waitForFunction(() => performance.getEntriesByName("first-plot").length > 0);
  return page.evaluate(() => performance.getEntriesByName("first-plot")[0].startTime);
}

/// While the page is watched, in milliseconds: the longest that its thread was busy with one task
/// (0: never over 50 ms), and the longest pause between two frames.
export function longestHang(page, watched_ms) {
  return page.evaluate(
    (watched_ms) =>
      new Promise((resolve) => {
        let task_ms = 0;
        let frame_ms = 0;
        let last = performance.now();
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) task_ms = Math.max(task_ms, entry.duration);
        });
        observer.observe({ type: "longtask" });
        const frame = (now) => {
          frame_ms = Math.max(frame_ms, now - last);
          last = now;
          requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
        setTimeout(() => resolve({ task_ms, frame_ms }), watched_ms);
      }),
    watched_ms,
  );
}

/// Bytes of the page's own files, unpacked.
export function weight_bytes(page) {
  return page.evaluate(() =>
    [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .filter((entry) => !entry.name.includes("/api/"))
      .reduce((sum, entry) => sum + entry.decodedBodySize, 0),
  );
}
