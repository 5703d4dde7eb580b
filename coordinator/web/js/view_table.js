/// Every row, sortable, a page at a time.  Each row has its own address.

import { element, emptyState, isNews } from "./dom.js";
import { figure, percentText, timeText, tokensText } from "./format.js";
import { sorted } from "./rows.js";

const kPageRows = 50;

/// [field, heading, text of a value, whether it is a number]
const kColumns = [
  ["status", "Status", String, false],
  ["kernel", "Kernel", String, false],
  ["layout", "Layout", String, false],
  ["batch", "Batch", String, true],
  ["query_tokens", "T", String, true],
  ["context", "Context", tokensText, true],
  ["kv_dtype", "KV", String, false],
  ["time_us", "Time", timeText, true],
  ["tflops", "TFLOP/s", figure, true],
  ["gbps", "GB/s", figure, true],
  ["intensity_model", "AI model", figure, true],
  ["intensity_measured", "AI measured", figure, true],
  ["roofline_fraction", "Of roofline", percentText, true],
  ["limiter", "Limiter", String, false],
  ["agent", "Agent", String, false],
  ["reason", "Reason", String, false],
];

export class TableView {
  #state;
  #count = element("p", { class: "headline", role: "status" });
  #head = element("tr");
  #body = element("tbody");
  #pages = element("nav", { class: "pages", "aria-label": "Pages of rows" });
  #downloads = element("div", { class: "tools" });
  #empty = emptyState("No row matches.", "Widen the filter, or start a sweep: ", element("code", {}, "headsplit run SWEEP"));

  /// downloads(): links that give the rows as files.
  constructor(host, state, downloads) {
    this.#state = state;
    const table = element("table", { class: "rows" }, element("thead", {}, this.#head), this.#body);
    host.append(this.#count, this.#downloads, element("div", { class: "scroll" }, table), this.#pages, this.#empty);
    this.downloads = downloads;
  }

  show({ filtered, rows, values }) {
    const [field, direction] = (values.sort ?? "").split(".");
    const ordered = field ? sorted(filtered, field, direction === "down") : filtered;
    const pages = Math.max(1, Math.ceil(ordered.length / kPageRows));
    const page = Math.min(Math.max(1, Number(values.page) || 1), pages);
    const part = ordered.slice((page - 1) * kPageRows, page * kPageRows);
    this.#count.textContent = `${filtered.length} of ${rows.length} rows`;
    this.#empty.hidden = filtered.length > 0;
    const known = part.map((row) => [row.point_id, row.epoch, row.status]);
    if (!isNews(this.#body, JSON.stringify([this.#state.address({ row: "" }), known, pages]))) return;
    this.#drawHead(field, direction);
    this.#body.replaceChildren(...part.map((row) => this.#line(row)));
    this.#drawPages(page, pages);
    this.#downloads.replaceChildren(...this.downloads());
  }

  #drawHead(field, direction) {
    const heads = kColumns.map(([name, heading, , number]) => {
      const sortedBy = name === field;
      const down = sortedBy && direction === "down";
      const next = sortedBy ? (down ? "" : `${name}.down`) : `${name}.up`;
      const mark = sortedBy ? (down ? " ▼" : " ▲") : "";
      return element(
        "th",
        {
          scope: "col",
          class: number ? "number" : "",
          "aria-sort": sortedBy ? (down ? "descending" : "ascending") : "none",
        },
        element(
          "button",
          { type: "button", "data-field": name, onclick: () => this.#sort(next, name) },
          heading + mark,
        ),
      );
    });
    this.#head.replaceChildren(...heads);
  }

  /// The heading is drawn anew: the keyboard stays on it.
  #sort(sort, name) {
    this.#state.change({ sort, page: "" });
    requestAnimationFrame(() => this.#head.querySelector(`[data-field="${name}"]`)?.focus());
  }

  #line(row) {
    const cells = kColumns.map(([name, , text, number], i) => {
      const value = row[name];
      const shown = value === null || value === undefined || value === "" ? "–" : text(value);
      const content = i === 0 ? element("a", { href: this.#state.address({ row: row.point_id }) }, shown) : shown;
      return element("td", { class: number ? "number" : name === "reason" ? "reason" : "" }, content);
    });
    return element("tr", { class: row.status }, cells);
  }

  #drawPages(page, pages) {
    this.#pages.hidden = pages === 1;
    const to = (number, text) =>
      element(
        "button",
        {
          type: "button",
          disabled: number < 1 || number > pages || number === page,
          onclick: () => this.#state.change({ page: number === 1 ? "" : String(number) }),
        },
        text,
      );
    this.#pages.replaceChildren(
      to(1, "First"),
      to(page - 1, "Previous"),
      element("span", {}, `page ${page} of ${pages}`),
      to(page + 1, "Next"),
      to(pages, "Last"),
    );
  }
}
