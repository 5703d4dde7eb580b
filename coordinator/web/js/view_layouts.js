/// Layout comparison: one problem under every layout measured, as bars.

import { cellText, cellsOf } from "./cells.js";
import { element, emptyState, showSelect } from "./dom.js";
import { bytesText, figure, percentText, timeText, timesText } from "./format.js";
import { swatch } from "./markers.js";

const kCellsMost = 300;

export class LayoutsView {
  #state;
  #tools = element("div", { class: "tools" });
  #table = element("table", { class: "bars" });
  #note = element("p", { class: "note" });
  #empty = emptyState(
    "Nothing to compare yet.",
    "Give a sweep several layouts: ",
    element("code", {}, "layouts: [{tp: 8}, {dp: 8}, {cp: 8}, {tp: 4, dp: 2}]"),
  );

  constructor(host, state) {
    this.#state = state;
    host.append(this.#tools, element("div", { class: "scroll" }, this.#table), this.#note, this.#empty);
  }

  show({ anyLayout, looks, values }) {
    const cells = cellsOf(anyLayout);
    const cell = cells.find((one) => one.key === values.cell) ?? cells[0];
    this.#empty.hidden = cell !== undefined;
    this.#table.hidden = this.#note.hidden = this.#tools.hidden = cell === undefined;
    if (cell === undefined) return;
    const listed = cells.slice(0, kCellsMost);
    if (!listed.includes(cell)) listed.unshift(cell);
    const choices = listed.map((one) => [one.key, `${cellText(one)} (${one.layouts.length} layouts)`]);
    showSelect(this.#tools, "Problem", choices, cell.key, (key) => this.#state.change({ cell: key }));
    this.#drawBars(cell.layouts, looks);
    const kind = cell.row.ranks === "real" ? "of the slowest rank" : "of rank 0, without collectives";
    this.#note.textContent =
      `Time of one layer's attention ${kind}. The tick in a bar is the model's time. ` +
      "Layouts use different numbers of GPUs: compare those of one number.";
  }

  #drawBars(bars, looks) {
    const longest = Math.max(...bars.map((bar) => Math.max(bar.time_us, bar.time_us_model ?? 0)));
    const fastest = Math.min(...bars.map((bar) => bar.time_us));
    const head = ["Layout", "GPUs", "Time", "", "× fastest", "AI (FLOP/byte)", "KV read by a rank", "KV copies", "Of roofline"];
    this.#table.replaceChildren(
      element("thead", {}, element("tr", {}, head.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, bars.map((bar) => this.#barRow(bar, longest, fastest, looks))),
    );
  }

  #barRow(bar, longest, fastest, looks) {
    const look = looks.get(bar.layout);
    const share = (time_us) => `${(100 * time_us) / longest}%`;
    const fill = element("div", {
      class: "fill",
      style: { width: share(bar.time_us), background: `var(--series-${look.colour})` },
    });
    const tick =
      bar.time_us_model === null
        ? null
        : element("div", { class: "tick", title: `model ${timeText(bar.time_us_model)}`, style: { left: share(bar.time_us_model) } });
    const address = this.#state.address({ row: bar.row.point_id });
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, swatch(look), element("a", { href: address }, bar.layout)),
      element("td", {}, String(bar.ranks)),
      element("td", { class: "number" }, timeText(bar.time_us)),
      element("td", { class: "wide" }, element("div", { class: "track" }, fill, tick)),
      element("td", {}, timesText(bar.time_us / fastest)),
      element("td", {}, figure(bar.intensity)),
      element("td", {}, bytesText(bar.kv_bytes)),
      element("td", {}, String(bar.tp)),
      element("td", {}, percentText(bar.roofline_fraction)),
    );
  }
}
