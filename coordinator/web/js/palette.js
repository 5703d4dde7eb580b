/// Which colour, shape and dash stand for what.  No two series differ by colour alone.

import { layoutOrder } from "./layout.js";

export const kColourCount = 8;
export const kShapes = [
  "circle",
  "square",
  "diamond",
  "triangle",
  "wedge",
  "plus",
  "cross",
  "bar",
];
const kDashes = [[], [7, 4], [2, 3], [10, 4, 2, 4], [5, 2], [1, 4], [12, 5], [7, 3, 2, 3, 2, 3]];

/// Look of the n-th series: after eight the colours come again with other shapes and dashes.
export function lookOf(index) {
  const turn = Math.floor(index / kColourCount);
  return {
    colour: index % kColourCount,
    shape: kShapes[(index + turn) % kShapes.length],
    dash: kDashes[(index + turn) % kDashes.length],
  };
}

/// Looks of layouts: by family and size, so that a layout looks the same in every plot.
export function looksOfLayouts(layouts) {
  const names = [...new Set(layouts)].sort(layoutOrder);
  return new Map(names.map((name, index) => [name, lookOf(index)]));
}

/// The colours of the theme in force, from the style sheet.
export function themeColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    series: Array.from({ length: kColourCount }, (_, i) => colour(`--series-${i}`)),
    text: colour("--text"),
    muted: colour("--muted"),
    grid: colour("--grid"),
    panel: colour("--panel"),
  };
}
