/// One row in full, with the provenance of each figure.

import { element, setText } from "./dom.js";
import { figure, momentText, pointText } from "./format.js";
import { kGroups } from "./row_fields.js";

export class RowView {
  #state;
  #source;
  #dialog = element("dialog", { class: "row", "aria-label": "One row" });
  #shown = null;

  /// source.fullRow(sweep, pointId): a promise of everything known of a row, or null.
  constructor(host, state, source) {
    this.#state = state;
    this.#source = source;
    this.#dialog.addEventListener("close", () => this.#state.change({ row: "" }));
    host.append(this.#dialog);
  }

  show({ list, sweep, values }) {
    const wanted = values.row ?? "";
    const row = wanted ? list.find(wanted) : null;
    if (!wanted || (row === null && !list.all.length)) {
      this.#shown = null;
      if (this.#dialog.open) this.#dialog.close();
      return;
    }
    const key = JSON.stringify([wanted, row?.epoch ?? null, row?.status ?? null]);
    if (this.#shown === key) return;
    this.#shown = key;
    this.#draw(wanted, row);
    if (!this.#dialog.open) this.#dialog.showModal();
    if (row !== null) this.#fetch(sweep, wanted, key);
  }

  async #fetch(sweep, pointId, key) {
    const full = await this.#source.fullRow(sweep, pointId);
    if (full !== null && this.#shown === key) this.#draw(pointId, full);
  }

  #draw(pointId, row) {
    const close = element("button", { type: "button", class: "close", onclick: () => this.#dialog.close() }, "Close");
    if (row === null) {
      const text = `No row of point ${pointId} in this sweep: it may still be waiting.`;
      this.#dialog.replaceChildren(close, element("p", {}, text));
      return;
    }
    const groups = kGroups.map(([title, fields]) => groupOf(title, fields, row));
    this.#dialog.replaceChildren(
      close,
      element("h2", {}, pointText(row)),
      element("p", { class: `verdict ${row.status}` }, row.reason ? `${row.status}: ${row.reason}` : row.status),
      samplesOf(row),
      element("div", { class: "groups" }, groups),
      this.#permalink(),
    );
  }

  #permalink() {
    const told = element("span", { role: "status" });
    const copy = async () => {
      await navigator.clipboard.writeText(location.href);
      setText(told, "copied");
    };
    const button = element("button", { type: "button", onclick: copy }, "Copy the link to this row");
    return element("p", {}, navigator.clipboard ? button : location.href, " ", told);
  }
}

function groupOf(title, fields, row) {
  const lines = fields
    .filter(({ name }) => row[name] !== undefined)
    .map((field) => {
      const value = row[field.name];
      const absent = value === null || value === "";
      const text = absent ? "not known" : field.text(value, row);
      const from = absent ? (field.why?.(row) ?? "") : (field.from?.(row) ?? "");
      const badge = from ? element("span", { class: `badge ${from.split(" ")[0]}` }, from) : "";
      return [
        element("dt", {}, field.label),
        element("dd", { class: absent ? "absent" : "" }, text, " ", badge),
      ];
    });
  return lines.length === 0
    ? null
    : element("section", {}, element("h3", {}, title), element("dl", {}, lines.flat()));
}

/// All samples in launch order, as a strip of dots: drift and outliers show at a glance.
function samplesOf(row) {
  const samples = row.samples_us ?? [];
  if (samples.length < 2) return null;
  const low = Math.min(...samples);
  const high = Math.max(...samples);
  const strip = element("div", { class: "samples", role: "img" });
  strip.setAttribute(
    "aria-label",
    `${samples.length} samples from ${figure(low)} to ${figure(high)} µs in launch order`,
  );
  const step = Math.ceil(samples.length / 400);
  samples.forEach((sample, i) => {
    if (i % step !== 0) return;
    const left = (100 * i) / Math.max(1, samples.length - 1);
    const bottom = high > low ? (100 * (sample - low)) / (high - low) : 50;
    strip.append(element("i", { style: { left: `${left}%`, bottom: `${bottom}%` } }));
  });
  const caption = `${samples.length} samples in launch order, ${figure(low)} to ${figure(high)} µs; started ${momentText(row.started_unix_s)}`;
  return element("figure", {}, strip, element("figcaption", {}, caption));
}
