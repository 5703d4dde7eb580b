/// Roofline: what each row reached against what its intensity allows.

import { describeRow } from "./describe.js";
import { element, emptyState, showSelect } from "./dom.js";
import { intensityOf, timed } from "./erosion.js";
import { figure } from "./format.js";
import { layoutOrder } from "./layout.js";
import { Plot } from "./plot.js";
import { attainable, ceilingFor, ceilingsOf, ridgeOf, roofCorners } from "./roof.js";
import { groupBy } from "./rows.js";

const kChoices = [
  ["", "measured where counted, else model"],
  ["measured", "measured only"],
  ["model", "model only"],
];

const kRoofDashes = { measured: [], "data sheet": [9, 5], "best seen": [3, 4] };
const kRoofStrokes = { measured: "solid", "data sheet": "dashed", "best seen": "dotted" };

export class RooflineView {
  #state;
  #tools = element("div", { class: "tools" });
  #note = element("p", { class: "note" });
  #body = element("div");
  #plot;

  constructor(host, state) {
    this.#state = state;
    host.append(this.#tools, this.#body, this.#note);
    this.#plot = new Plot(this.#body, {
      height: 420,
      onpick: (point) => state.change({ row: point.row.point_id }),
    });
    this.#empty = emptyState("No timed rows yet.", "They appear here as soon as a point is done.");
    host.append(this.#empty);
  }
  #empty;

  show({ filtered, ceilings, looks, values }) {
    const rows = timed(filtered).filter((row) => row.tflops > 0 && xOf(values)(row) > 0);
    this.#empty.hidden = rows.length > 0;
    this.#body.hidden = rows.length === 0;
    showSelect(this.#tools, "Intensity", kChoices, values.intensity ?? "", (value) =>
      this.#state.change({ intensity: value }),
    );
    if (rows.length === 0) return;
    const roofs = ceilingsOf(rows, ceilings);
    this.#plot.show(specOf(rows, roofs, looks, xOf(values)));
    this.#note.textContent = noteOf(rows, roofs);
  }

  recolour() {
    this.#plot.recolour();
  }
}

function xOf(values) {
  if (values.intensity === "measured") return (row) => row.intensity_measured;
  if (values.intensity === "model") return (row) => row.intensity_model;
  return intensityOf;
}

function specOf(rows, roofs, looks, intensity) {
  const points = rows.map((row) => ({ x: intensity(row), y: row.tflops, row }));
  const byLayout = [...groupBy(points, (point) => point.row.layout)].sort((a, b) =>
    layoutOrder(a[0], b[0]),
  );
  const measured = byLayout.map(([layout, own]) => ({
    key: layout,
    label: layout,
    look: looks.get(layout),
    points: own,
  }));
  const model = byLayout.map(([layout, own]) => modelSeries(layout, own, roofs, looks.get(layout)));
  return {
    label: "Roofline: performance over arithmetic intensity, both logarithmic",
    x: { label: "Arithmetic intensity (FLOP/byte)", log: 10, text: figure, air: 1.02 },
    y: { label: "Performance (TFLOP/s)", log: 10, text: figure, air: 1.5 },
    series: [...model, ...measured],
    references: referencesOf(roofs, points),
    describe: (point) => (point.model ? describeModel(point) : describeRow(point.row)),
  };
}

/// Where the model puts a layout: on its roof, at the intensity of the formula.
function modelSeries(layout, points, roofs, look) {
  const seen = new Set();
  const places = [];
  for (const { row } of points) {
    const ceiling = ceilingFor(roofs, row);
    if (!ceiling || !(row.intensity_model > 0)) continue;
    const key = `${row.device} ${row.intensity_model.toPrecision(2)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const y = attainable(ceiling, row.intensity_model);
    places.push({ x: row.intensity_model, y, row, ceiling, model: true });
  }
  return { key: layout, look, points: places, hollow: true };
}

function describeModel({ x, y, row, ceiling }) {
  return {
    title: `Model: ${row.layout}, T=${row.query_tokens}, ${row.kv_dtype}`,
    lines: [
      ["intensity", `${figure(x)} FLOP/byte`],
      ["attainable", `${figure(y)} TFLOP/s`],
      ["roof", `${ceiling.device}, ${ceiling.source}`],
    ],
  };
}

function referencesOf(roofs, points) {
  const xs = points.map((point) => point.x);
  const low = Math.min(...roofs.map((roof) => ridgeOf(roof) / 8), minimum(xs)) / 1.5;
  const high = Math.max(...roofs.map((roof) => ridgeOf(roof) * 4), -minimum(xs.map((x) => -x))) * 1.5;
  const lowest = roofs.length > 1 ? minimum(roofs.map((roof) => roof.tflops)) : 0;
  return roofs.flatMap((roof, i) => {
    const dash = kRoofDashes[roof.source];
    const corners = roofCorners(roof, low, high);
    const whose = roofs.length > 1 ? `, ${roof.source}` : "";
    const label = { dash, below: roof.tflops === lowest };
    return [
      { points: corners, colour: "text", dash, fit: true },
      along(corners.slice(-2), `${figure(roof.tflops)} TFLOP/s`, whose, { ...label, labelAt: 0.95 }),
      along(corners.slice(0, 2), `${figure(roof.gbps)} GB/s`, whose, {
        ...label,
        labelAt: 0.04 + 0.66 * (i % 2),
      }),
      ...(isFirstOfDevice(roofs, i) ? [ridgeLine(roof)] : []),
    ];
  });
}

/// Ridges of several roofs of one device lie close together: the first, measured if any, stands for
/// them.
function isFirstOfDevice(roofs, i) {
  return roofs.findIndex((roof) => roof.device === roofs[i].device) === i;
}

function ridgeLine(roof) {
  const ridge = ridgeOf(roof);
  return {
    points: [[ridge, 1e-12], [ridge, roof.tflops]],
    colour: "muted",
    dash: [2, 4],
    upright: true,
    label: `ridge ${figure(ridge)} FLOP/byte`,
  };
}

/// more: said where there is room for it.
function along(points, label, more, rest) {
  return { points, colour: "text", label: label + more, shortLabel: label, ...rest };
}

function minimum(values) {
  return values.reduce((least, value) => Math.min(least, value), Infinity);
}

function noteOf(rows, roofs) {
  const counted = rows.filter((row) => row.intensity_measured > 0).length;
  const names = roofs.map(({ device, source }) => `${device} (${source}, ${kRoofStrokes[source]})`);
  return (
    `${rows.length} rows, ${counted} of them with counted DRAM bytes. Filled: measured performance. ` +
    `Hollow: what the model allows at that intensity. Roofs: ${names.join("; ")}. ` +
    "Drag to zoom, double-click to zoom out."
  );
}
