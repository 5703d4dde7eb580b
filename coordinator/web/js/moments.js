/// When the page does things.

const kFirstPlot = "first-plot";

/// The browser may show what there is, and hear the reader, before the next task.
export function nextTask() {
  return new Promise((resolve) => setTimeout(resolve));
}

/// For whoever measures the page: the moment after the browser showed the first plot.
export function markFirstPlot() {
  if (performance.getEntriesByName(kFirstPlot).length > 0) return;
  requestAnimationFrame(() => setTimeout(() => performance.mark(kFirstPlot)));
}
