/// Map of the best layout over batch and context, for one number of GPUs.

import { bestLayouts, gpuCounts, usualGpuCount, verdictText } from "./cells.js";
import { element, emptyState, isNews, showSelect } from "./dom.js";
import { tokensText, timeText } from "./format.js";
import { swatch } from "./markers.js";
import { matching } from "./rows.js";
import { heldText, sliceOf } from "./slice.js";

/// Held to one value each: only layouts compete in a cell.
const kHeld = ["device", "model", "kernel", "kv_dtype", "query_tokens", "l2", "lengths", "ranks"];

/// What the drawn map is made of.
function keyOf(map, looks) {
  const told = ({ key, winner, lead }) => [key, winner.layout, looks.get(winner.layout).colour, winner.time_us, lead];
  const cells = map.cells.map((line) => line.map((cell) => cell && told(cell)));
  return JSON.stringify([map.batches, map.contexts, cells]);
}

export class MapView {
  #state;
  #tools = element("div", { class: "tools" });
  #table = element("table", { class: "map" });
  #note = element("p", { class: "note" });
  #empty = emptyState("No layouts to choose from yet.", "Two layouts of as many GPUs make a map.");

  constructor(host, state) {
    this.#state = state;
    host.append(this.#tools, element("div", { class: "scroll" }, this.#table), this.#note, this.#empty);
  }

  show({ rows, looks, values }) {
    const wanted = { ...values, batch: "", context: "", layout: "", status: "" };
    const { rows: kept, held } = sliceOf(matching(rows, wanted).filter((row) => row.status === "ok"), kHeld);
    const counts = gpuCounts(kept);
    const gpus = counts.find((count) => String(count) === values.gpus) ?? usualGpuCount(kept);
    const map = gpus === null ? null : bestLayouts(kept, gpus);
    this.#empty.hidden = map !== null;
    this.#table.hidden = this.#note.hidden = this.#tools.hidden = map === null;
    if (map === null) return;
    const choices = counts.map((count) => [String(count), String(count)]);
    showSelect(this.#tools, "GPUs", choices, String(gpus), (value) =>
      this.#state.change({ gpus: value }),
    );
    this.#draw(map, looks);
    const heldNote = heldText(held);
    this.#note.textContent =
      "Rows: requests in a batch; columns: tokens of context. Each cell: the fastest layout, its time, and how much longer the second takes. Striped: the two are within 3 %." +
      (heldNote ? ` Held: ${heldNote} (choose others in the filter).` : "");
  }

  #draw(map, looks) {
    if (!isNews(this.#table, keyOf(map, looks))) return;
    const head = element(
      "tr",
      {},
      element("th", { scope: "col" }, "Batch \\ Context"),
      map.contexts.map((context) => element("th", { scope: "col" }, tokensText(context))),
    );
    const body = map.batches.map((batch, i) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, String(batch)),
        map.cells[i].map((cell) => this.#cell(cell, looks)),
      ),
    );
    this.#table.replaceChildren(element("thead", {}, head), element("tbody", {}, body));
  }

  #cell(cell, looks) {
    if (cell === null) return element("td", { class: "nothing" }, "–");
    const { winner, lead } = cell;
    const look = looks.get(winner.layout);
    const close = lead !== null && lead < 0.03;
    return element(
      "td",
      { style: { "--cell": `var(--series-${look.colour})` }, class: close ? "close" : "clear" },
      element(
        "button",
        { type: "button", title: verdictText(cell), onclick: () => this.#compare(cell) },
        element("strong", {}, swatch(look), winner.layout),
        element("span", {}, timeText(winner.time_us)),
        element("small", {}, lead === null ? "only one" : `+${Math.round(lead * 100)} %`),
      ),
    );
  }

  #compare(cell) {
    this.#state.change({ cell: cell.key, view: "layouts" });
  }
}
