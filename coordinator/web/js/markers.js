/// Shapes of markers, the same on a canvas and in a legend.

import { drawing } from "./dom.js";

/// Corners of a shape around the origin, of half width 1; lists of corners are separate strokes.
const kStrokes = {
  square: [[[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85], [-0.85, -0.85]]],
  diamond: [[[0, -1.2], [1.1, 0], [0, 1.2], [-1.1, 0], [0, -1.2]]],
  triangle: [[[0, -1.1], [1.1, 0.85], [-1.1, 0.85], [0, -1.1]]],
  wedge: [[[0, 1.1], [1.1, -0.85], [-1.1, -0.85], [0, 1.1]]],
  plus: [[[-1.1, 0], [1.1, 0]], [[0, -1.1], [0, 1.1]]],
  cross: [[[-0.9, -0.9], [0.9, 0.9]], [[-0.9, 0.9], [0.9, -0.9]]],
  bar: [[[-1.2, -0.3], [1.2, -0.3], [1.2, 0.3], [-1.2, 0.3], [-1.2, -0.3]]],
};

/// Adds a marker to a Path2D.
export function traceMarker(path, shape, x, y, size) {
  if (shape === "circle") {
    path.moveTo(x + size, y);
    path.arc(x, y, size, 0, 2 * Math.PI);
    return;
  }
  for (const stroke of kStrokes[shape]) {
    stroke.forEach(([dx, dy], i) => {
      if (i === 0) path.moveTo(x + dx * size, y + dy * size);
      else path.lineTo(x + dx * size, y + dy * size);
    });
  }
}

/// Open shapes are only stroked.
export function isOpen(shape) {
  return shape === "plus" || shape === "cross";
}

function outlineText(shape, x, y, size) {
  if (shape === "circle") {
    return `M${x + size} ${y}A${size} ${size} 0 1 1 ${x - size} ${y}A${size} ${size} 0 1 1 ${x + size} ${y}`;
  }
  return kStrokes[shape]
    .map((stroke) => "M" + stroke.map(([dx, dy]) => `${x + dx * size} ${y + dy * size}`).join("L"))
    .join("");
}

/// A sample of a series for a legend: its line, dash, marker and colour.
export function swatch(look, { line = false, hollow = false, marker = true } = {}) {
  const colour = `var(--series-${look.colour})`;
  const parts = [];
  if (line) {
    const dash = look.dash.join(" ");
    const style = { stroke: colour, "stroke-width": "2", "stroke-dasharray": dash || "none" };
    parts.push(drawing("path", { d: "M1 8L31 8", fill: "none", style }));
  }
  if (marker) {
    const fill = hollow || isOpen(look.shape) ? "var(--panel)" : colour;
    const style = { stroke: colour, "stroke-width": "1.8", fill };
    parts.push(drawing("path", { d: outlineText(look.shape, 16, 8, 5), style }));
  }
  return drawing("svg", { viewBox: "0 0 32 16", width: 32, height: 16, "aria-hidden": "true" }, ...parts);
}
