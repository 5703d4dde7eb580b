/// Legend of plots: a button a series, that switches it off and on.

import { element } from "./dom.js";
import { swatch } from "./markers.js";

/// Fills `host`.  Series of one key are one entry (a measured line and its model).  A press puts
/// the key into `hidden`, or takes it out, and calls ontoggle.
export function drawLegend(host, series, hidden, ontoggle) {
  const entries = new Map();
  for (const one of series) if (one.label && !entries.has(one.key)) entries.set(one.key, one);
  const focused = host.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const toggle = (key) => {
    if (!hidden.delete(key)) hidden.add(key);
    drawLegend(host, series, hidden, ontoggle);
    ontoggle();
  };
  host.replaceChildren(...[...entries.values()].map((one) => entryOf(one, hidden, toggle)));
  for (const button of host.children) if (button.dataset.key === focused) button.focus();
}

function entryOf(one, hidden, toggle) {
  return element(
    "button",
    {
      type: "button",
      class: "legend-entry",
      "data-key": one.key,
      "aria-pressed": String(!hidden.has(one.key)),
      title: "Switch this series off or on",
      onclick: () => toggle(one.key),
    },
    swatch(one.look, { line: one.line, hollow: one.hollow, marker: one.marker !== false }),
    element("span", {}, one.label),
  );
}
