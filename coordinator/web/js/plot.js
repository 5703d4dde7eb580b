/// A plot: uPlot gives axes, grid, zoom and cursor; marks, legend, tooltip and keys are ours.
///
/// spec: {label, x, y, series, references, describe}
///   x, y        {label, log: 0|2|10, ticks, text(value), min, max, air}
///   series      [{key, label, look, points: [{x, y, low, high, ...}], line, hollow, marker}]
///   references  [{points: [[x, y], ...], label, shortLabel, colour, dash, width, upright, labelAt,
///                below, fit}]
///   describe    point, series -> {title, lines: [[name, value], ...]}

import { element } from "./dom.js";
import { drawPlot } from "./draw.js";
import { extentOf, valuesAlong } from "./extent.js";
import { drawLegend } from "./legend.js";
import { themeColours } from "./palette.js";
import { Pointer } from "./pointer.js";
import { logTicks } from "./ticks.js";

/// Pixels that a label needs along its axis.
const kLabel_px = { x: 56, y: 28 };
const kFont = "12px system-ui, sans-serif";

export class Plot {
  #spec = null;
  #chart = null;
  #signature = "";
  #zoomed = false;
  #hidden;
  #ownsLegend;
  #colours = themeColours();
  #frame;
  #legend;
  #pointer;
  #height;

  /// onpick(point): the reader chose a point, by click or Enter.  hidden: keys of series that are
  /// switched off; plots with a legend of their own need none.
  constructor(host, { height = 320, onpick = () => {}, hidden = null } = {}) {
    this.#height = height;
    this.#ownsLegend = hidden === null;
    this.#hidden = hidden ?? new Set();
    this.#frame = element("div", { class: "plot-frame", tabindex: "0", role: "group" });
    this.#legend = element("div", { class: "legend" });
    host.append(this.#frame, this.#legend);
    this.#pointer = new Pointer(this.#frame, onpick);
    new ResizeObserver(() => this.#resize()).observe(this.#frame);
  }

  show(spec) {
    this.#spec = spec;
    this.#frame.setAttribute("aria-label", spec.label);
    const signature = JSON.stringify([spec.x.label, spec.x.log, spec.y.label, spec.y.log]);
    if (this.#chart === null || signature !== this.#signature) this.#build();
    else this.#refresh();
    this.#signature = signature;
    if (this.#ownsLegend) drawLegend(this.#legend, spec.series, this.#hidden, () => this.show(this.#spec));
  }

  /// After the theme changed.
  recolour() {
    this.#colours = themeColours();
    this.#chart?.redraw();
  }

  #isShown = (series) => !this.#hidden.has(series.key);

  /// Two corners stand for the data: uPlot only has to know the ranges.
  #corners() {
    const [left, right] = extentOf(this.#spec.x, valuesAlong(this.#spec, "x"));
    const [bottom, top] = extentOf(this.#spec.y, valuesAlong(this.#spec, "y"));
    return [null, [[left, right], [bottom, top]]];
  }

  #refresh() {
    this.#chart.setData(this.#corners(), !this.#zoomed);
    if (this.#zoomed) this.#chart.redraw();
    this.#pointer.follow(this.#chart, this.#spec, this.#isShown);
  }

  #build() {
    this.#chart?.destroy();
    this.#zoomed = false;
    this.#chart = new uPlot(this.#options(), this.#corners(), this.#frame);
    this.#chart.over.addEventListener("dblclick", () => (this.#zoomed = false));
    this.#pointer.follow(this.#chart, this.#spec, this.#isShown);
  }

  #options() {
    return {
      mode: 2,
      width: Math.max(this.#frame.clientWidth, 200),
      height: this.#height,
      padding: [12, 16, 0, 0],
      legend: { show: false },
      scales: { x: this.#scale("x"), y: this.#scale("y") },
      axes: [this.#axis("x"), this.#axis("y")],
      series: [
        null,
        {
          facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }],
          paths: () => null,
          points: { show: false },
        },
      ],
      cursor: { drag: { x: true, y: true, uni: 20, dist: 8 }, points: { show: false }, dataIdx: () => null },
      hooks: {
        draw: [(chart) => drawPlot(chart, this.#spec, this.#colours, this.#isShown)],
        setSelect: [(chart) => (this.#zoomed ||= chart.select.width > 0)],
        setCursor: [(chart) => this.#pointer.point(chart)],
      },
    };
  }

  #scale(direction) {
    const log = this.#spec[direction].log;
    const range = (chart, low, high) => [low, high];
    return { time: false, range, distr: log ? 3 : 1, log: log || 10 };
  }

  #axis(direction) {
    const current = () => this.#spec[direction];
    const log = current().log;
    const splits = (chart, axis, low, high) =>
      current().ticks ?? logTicks(log, low, high, ticksMost(chart, direction));
    const texts = (chart, splits) =>
      splits.map((value) => (value === null ? null : current().text(value)));
    return {
      scale: direction,
      label: current().label,
      labelFont: kFont,
      font: kFont,
      labelSize: 24,
      size: direction === "x" ? 30 : 56,
      stroke: () => this.#colours.text,
      grid: { stroke: () => this.#colours.grid, width: 1 },
      ticks: { stroke: () => this.#colours.grid, width: 1, size: 5 },
      values: texts,
      ...(log || current().ticks ? { splits, filter: (chart, ticks) => ticks } : {}),
    };
  }

  #resize() {
    const width = this.#frame.clientWidth;
    if (this.#chart === null || width === 0 || width === this.#chart.width) return;
    this.#chart.setSize({ width, height: this.#height });
  }
}

function ticksMost(chart, direction) {
  const length = direction === "x" ? chart.bbox.width : chart.bbox.height;
  return Math.max(2, Math.floor(length / devicePixelRatio / kLabel_px[direction]));
}
