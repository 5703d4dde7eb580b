/// Draws the series and references of a plot on uPlot's canvas.

import { traceMarker } from "./markers.js";

const kMarkerSize_px = 4.5;
/// Plots narrower than this have room for short labels only.
const kNarrow_px = 480;
/// Points of one series from which on markers are small and have no rims.
const kCrowd = 150;

/// colours: of the theme.  isShown(series): whether the legend has it switched on.
export function drawPlot(chart, spec, colours, isShown) {
  const { ctx, bbox } = chart;
  const pen = {
    ctx,
    bbox,
    colours,
    unit: devicePixelRatio,
    at: (x, y) => [chart.valToPos(x, "x", true), chart.valToPos(y, "y", true)],
  };
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const reference of spec.references ?? []) drawReference(pen, reference);
  for (const series of spec.series) if (isShown(series)) drawSeries(pen, series);
  for (const reference of spec.references ?? []) drawLabel(pen, reference);
  ctx.restore();
}

function colourOf(pen, look) {
  return typeof look === "number" ? pen.colours.series[look] : pen.colours[look];
}

function strokeThrough(pen, points, dash, width) {
  const { ctx, unit } = pen;
  ctx.beginPath();
  ctx.setLineDash(dash.map((part) => part * unit));
  ctx.lineWidth = width * unit;
  points.forEach(([x, y], i) => (i === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawReference(pen, reference) {
  pen.ctx.strokeStyle = colourOf(pen, reference.colour);
  const corners = reference.points.map(([x, y]) => pen.at(x, y));
  strokeThrough(pen, corners, reference.dash ?? [], reference.width ?? 1.5);
}

/// The text of a reference: along the way from its first to its last corner, or upright beside a
/// vertical line.
function drawLabel(pen, reference) {
  if (!reference.label) return;
  const { ctx, unit, bbox, colours } = pen;
  const from = pen.at(...reference.points[0]);
  const to = pen.at(...reference.points.at(-1));
  ctx.save();
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.font = `${11 * unit}px system-ui, sans-serif`;
  ctx.fillStyle = reference.colour === "muted" ? colours.muted : colours.text;
  ctx.strokeStyle = colours.panel;
  ctx.lineWidth = 3 * unit;
  ctx.lineJoin = "round";
  if (reference.upright) {
    ctx.translate(from[0] - 4 * unit, bbox.top + bbox.height - 6 * unit);
    ctx.rotate(-Math.PI / 2);
  } else {
    const share = reference.labelAt ?? 0.5;
    const left = Math.max(from[0], bbox.left);
    const right = Math.min(to[0], bbox.left + bbox.width);
    const x = left + (right - left) * share;
    const slope = (to[1] - from[1]) / (to[0] - from[0] || 1);
    const aside = (reference.below ? 15 : -6) * unit;
    ctx.translate(x, from[1] + slope * (x - from[0]) + aside);
    ctx.rotate(Math.atan(slope));
    ctx.textAlign = share > 0.7 ? "right" : share < 0.3 ? "left" : "center";
  }
  const narrow = bbox.width < kNarrow_px * unit;
  const text = (narrow && reference.shortLabel) || reference.label;
  ctx.strokeText(text, 0, 0);
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

function drawSeries(pen, series) {
  const { ctx, unit } = pen;
  ctx.strokeStyle = pen.colours.series[series.look.colour];
  ctx.fillStyle = series.hollow ? pen.colours.panel : ctx.strokeStyle;
  const places = series.points.map((point) => pen.at(point.x, point.y));
  if (series.line) strokeThrough(pen, places, series.look.dash, series.hollow ? 1.2 : 2);
  drawSpreads(pen, series, places);
  if (series.marker === false) return;
  const crowded = series.points.length > kCrowd;
  const size = (crowded ? 0.75 : 1) * kMarkerSize_px * unit;
  const path = new Path2D();
  for (const [x, y] of places) traceMarker(path, series.look.shape, x, y, size);
  ctx.lineWidth = 1.5 * unit;
  ctx.fill(path);
  if (!series.hollow) {
    if (crowded) return;
    // A rim in the colour of the paper keeps markers apart where they lie upon each other.
    ctx.strokeStyle = pen.colours.panel;
    ctx.lineWidth = 0.8 * unit;
  }
  ctx.stroke(path);
}

/// Thin bars from p10 to p90.
function drawSpreads(pen, series, places) {
  pen.ctx.lineWidth = pen.unit;
  pen.ctx.beginPath();
  series.points.forEach((point, i) => {
    if (!(point.low > 0 && point.high > 0)) return;
    pen.ctx.moveTo(places[i][0], pen.at(point.x, point.low)[1]);
    pen.ctx.lineTo(places[i][0], pen.at(point.x, point.high)[1]);
  });
  pen.ctx.stroke();
}
