/// When the page does things.

const kFirstPlot = "first-plot";
const kFrameMost_ms = 100;

/// After the browser showed what there is; a page that nobody sees has no frames to wait for.
export function nextFrame() {
  return new Promise((resolve) => {
    setTimeout(resolve, kFrameMost_ms);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

/// The browser may hear the reader before the next task.
export function nextTask() {
  return new Promise((resolve) => setTimeout(resolve));
}

/// For whoever measures the page: the moment after the browser showed the first plot.
export function markFirstPlot() {
  if (performance.getEntriesByName(kFirstPlot).length > 0) return;
  requestAnimationFrame(() => setTimeout(() => performance.mark(kFirstPlot)));
}
