/// Erosion: what splitting heads over more ranks gives and costs, curve by curve.

import { describeSummary } from "./describe.js";
import { element, emptyState } from "./dom.js";
import { commonText, erosionCurves, labelsOf } from "./erosion.js";
import { figure } from "./format.js";
import { drawLegend } from "./legend.js";
import { lookOf } from "./palette.js";
import { Plot } from "./plot.js";
import { ceilingsOf, ridgeOf } from "./roof.js";

const kCurvesMost = 8;
const kRidgeSource = {
  measured: "the ceilings measured on the device",
  "data sheet": "the data sheet",
  "best seen": "the best of these rows",
};

/// One small plot each.  value: of a point.  model: the same from the model, where there is one.
/// ideal: what perfect scaling would give, as a function of TP (relative to the first curve).
const kPlots = [
  {
    title: "Arithmetic intensity",
    axis: "Intensity (FLOP/byte)",
    log: 10,
    value: (point) => point.intensity,
    model: (point) => point.intensity_model,
    ridge: true,
  },
  {
    title: "Reuse retained, AI(P) / AI(1)",
    axis: "Reuse (%)",
    value: (point) => percent(point.reuse_retained),
    ideal: () => 100,
    idealText: "all of it",
  },
  {
    title: "Time of one rank",
    axis: "Time (µs)",
    log: 10,
    value: (point) => point.time_us,
    spread: true,
    model: (point) => point.time_us_model,
    ideal: (tp, first) => (first ? first.time_us / tp : null),
    idealOf: "ideal",
  },
  {
    title: "Speed-up, t(1) / t(P)",
    axis: "Speed-up (×)",
    log: 2,
    value: (point) => point.speedup,
    ideal: (tp) => tp,
    idealText: "ideal, P",
  },
  {
    title: "TP efficiency, speed-up / P",
    axis: "Efficiency (%)",
    value: (point) => percent(point.efficiency),
    ideal: () => 100,
    idealText: "ideal",
  },
  {
    title: "KV cache read by all ranks",
    axis: "KV cache (MB)",
    log: 10,
    value: (point) => (point.kv_bytes_all === null ? null : point.kv_bytes_all / 1e6),
    ideal: (tp, first) => (first && first.kv_bytes !== null ? first.kv_bytes / 1e6 : null),
    idealOf: "no copies,"
  },
];

function percent(ratio) {
  return ratio === null ? null : ratio * 100;
}

export class ErosionView {
  #caption = element("p", { class: "caption" });
  #legend = element("div", { class: "legend" });
  #grid = element("div", { class: "plots" });
  #hidden = new Set();
  #empty = emptyState(
    "No TP curve yet.",
    "A curve needs one problem under two or more of tp1, tp2, tp4, ...: ",
    element("code", {}, "headsplit run configs/sweeps/tp-erosion.yaml"),
  );
  #plots;

  constructor(host, state) {
    host.append(this.#caption, this.#legend, this.#grid, this.#empty);
    this.#plots = kPlots.map((kind) => {
      const body = element("div");
      this.#grid.append(element("figure", {}, element("figcaption", {}, kind.title), body));
      const onpick = (point) => state.change({ row: point.summary.row.point_id });
      return new Plot(body, { height: 250, onpick, hidden: this.#hidden });
    });
  }

  show({ anyLayout, ceilings, values }) {
    const all = erosionCurves(anyLayout);
    const like = values.batch || values.context ? all : ofOneSize(all);
    const curves = like.slice(0, kCurvesMost);
    this.#empty.hidden = curves.length > 0;
    this.#grid.hidden = this.#caption.hidden = this.#legend.hidden = curves.length === 0;
    if (curves.length === 0) return;
    const labels = labelsOf(curves.map((curve) => curve.row));
    const roofs = ceilingsOf(anyLayout, ceilings);
    this.#caption.textContent = captionOf(curves, roofs, all.length - curves.length);
    const specs = kPlots.map((kind) => specOf(kind, curves, labels, roofs));
    const draw = () => specs.forEach((spec, i) => this.#plots[i].show(spec));
    drawLegend(this.#legend, specs[0].series, this.#hidden, draw);
    draw();
  }

  recolour() {
    for (const plot of this.#plots) plot.recolour();
  }
}

/// Curves of the batch and context of the first, so that they differ in other things.
function ofOneSize(curves) {
  const [first] = curves;
  return curves.filter(
    ({ row }) => row.batch === first.row.batch && row.context === first.row.context,
  );
}

function captionOf(curves, roofs, left) {
  const ridge = roofs.length > 0 ? ` Ridge: by ${kRidgeSource[roofs[0].source]}.` : "";
  const common = commonText(curves.map((curve) => curve.row));
  const more = left > 0 ? ` ${left} more curves: choose a batch or context in the filter.` : "";
  return `${common}. Solid: measured; dashed and hollow: model.${ridge}${more}`;
}

function specOf(kind, curves, labels, roofs) {
  const degrees = [...new Set(curves.flatMap((curve) => curve.points.map((p) => p.tp)))];
  degrees.sort((a, b) => a - b);
  const series = curves.flatMap((curve, i) => seriesOf(kind, curve, labels[i], i));
  const y = { label: kind.axis, log: kind.log ?? 0, text: figure, min: kind.log ? undefined : 0 };
  return {
    label: `${kind.title} over tensor parallelism`,
    x: { label: "TP, ranks that share the heads", log: 2, ticks: degrees, text: String },
    y: kind.log === 2 ? { ...y, min: 1 } : y,
    series,
    references: referencesOf(kind, curves, labels, degrees, roofs),
    describe: (point) => describeSummary(point.summary),
  };
}

function seriesOf(kind, curve, label, index) {
  const look = lookOf(index);
  const pointsOf = (value, spread) =>
    curve.points
      .map((summary) => ({
        x: summary.tp,
        y: value(summary),
        low: spread ? summary.time_p10_us : null,
        high: spread ? summary.time_p90_us : null,
        summary,
      }))
      .filter((point) => Number.isFinite(point.y));
  const key = label;
  const measured = { key, label, look, line: true, points: pointsOf(kind.value, kind.spread) };
  if (!kind.model) return [measured];
  const model = { key, look: { ...look, dash: [3, 3] }, line: true, hollow: true, points: pointsOf(kind.model) };
  return [model, measured];
}

function referencesOf(kind, curves, labels, degrees, roofs) {
  const references = [];
  const ends = [degrees[0], degrees[degrees.length - 1]];
  if (kind.ideal) {
    const first = curves[0].points.find((point) => point.tp === 1) ?? null;
    const points = degrees.map((tp) => [tp, kind.ideal(tp, first)]);
    if (points.every(([, y]) => Number.isFinite(y))) {
      const label = kind.idealText ?? `${kind.idealOf} ${labels[0]}`;
      references.push({ points, colour: "muted", dash: [2, 4], label, labelAt: 0.95, fit: true });
    }
  }
  for (const roof of kind.ridge ? roofs.slice(0, 1) : []) {
    const ridge = ridgeOf(roof);
    references.push({
      points: ends.map((tp) => [tp, ridge]),
      colour: "text",
      dash: [6, 4],
      label: `ridge ${figure(ridge)}`,
      labelAt: 0.98,
      fit: true,
    });
  }
  return references;
}
