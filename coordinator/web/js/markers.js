/// Shapes of markers, the same on a canvas and in a legend.

import { drawing } from "./dom.js";

/// Half the length and half the width of the arms of a plus.
const kArm = 1.25;
const kArmWidth = 0.4;

const kPlus = [
  [-kArmWidth, -kArm],
  [kArmWidth, -kArm],
  [kArmWidth, -kArmWidth],
  [kArm, -kArmWidth],
  [kArm, kArmWidth],
  [kArmWidth, kArmWidth],
  [kArmWidth, kArm],
  [-kArmWidth, kArm],
  [-kArmWidth, kArmWidth],
  [-kArm, kArmWidth],
  [-kArm, -kArmWidth],
  [-kArmWidth, -kArmWidth],
];

/// Corners of a shape around the origin, of half width about 1.  All have an inside, so that a hollow
/// marker can be told from a filled one.
const kCorners = {
  square: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  diamond: [[0, -1.2], [1.1, 0], [0, 1.2], [-1.1, 0]],
  triangle: [[0, -1.1], [1.1, 0.85], [-1.1, 0.85]],
  wedge: [[0, 1.1], [1.1, -0.85], [-1.1, -0.85]],
  plus: kPlus,
  cross: kPlus.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]),
  bar: [[-1.2, -0.4], [1.2, -0.4], [1.2, 0.4], [-1.2, 0.4]],
};

/// Adds a marker to a Path2D.  The outline ends where it began without closePath, which costs a
/// browser as much as all else does when a path holds thousands of markers.
export function traceMarker(path, shape, x, y, size) {
  if (shape === "circle") {
    path.moveTo(x + size, y);
    path.arc(x, y, size, 0, 2 * Math.PI);
    return;
  }
  const corners = kCorners[shape];
  const [endX, endY] = corners[corners.length - 1];
  path.moveTo(x + endX * size, y + endY * size);
  for (const [dx, dy] of corners) path.lineTo(x + dx * size, y + dy * size);
}

function outlineText(shape, x, y, size) {
  if (shape === "circle") {
    return `M${x + size} ${y}A${size} ${size} 0 1 1 ${x - size} ${y}A${size} ${size} 0 1 1 ${x + size} ${y}`;
  }
  const corners = kCorners[shape].map(([dx, dy]) => `${x + dx * size} ${y + dy * size}`);
  return `M${corners.join("L")}Z`;
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
    const fill = hollow ? "var(--panel)" : colour;
    const style = { stroke: colour, "stroke-width": hollow ? "1.8" : "0.8", fill };
    parts.push(drawing("path", { d: outlineText(look.shape, 16, 8, 5), style }));
  }
  return drawing("svg", { viewBox: "0 0 32 16", width: 32, height: 16, "aria-hidden": "true" }, ...parts);
}
