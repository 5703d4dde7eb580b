/// The bar that narrows every view: a choice a field, and a search for words.

import { element, select } from "./dom.js";
import { tokensText } from "./format.js";
import { layoutOrder } from "./layout.js";
import { kFilterFields, valuesOf } from "./rows.js";

const kLabels = {
  status: "Status",
  kernel: "Kernel",
  layout: "Layout",
  batch: "Batch",
  query_tokens: "Query tokens",
  context: "Context",
  kv_dtype: "KV cache",
  l2: "L2",
  lengths: "Lengths",
  ranks: "Ranks",
  device: "Device",
  model: "Model",
};

export class Filters {
  #state;
  #choices;
  #search;
  #clear;
  #drawn = "";

  constructor(host, state) {
    this.#state = state;
    this.#choices = element("div", { class: "choices" });
    this.#search = element("input", {
      type: "search",
      placeholder: "words in any column",
      "aria-label": "Search rows",
      oninput: (event) => state.change({ text: event.target.value, page: "" }, { refine: true }),
    });
    this.#clear = element("button", { type: "button", onclick: () => this.#clearAll() }, "Show all");
    const label = element("label", { class: "choice" }, element("span", {}, "Search"), this.#search);
    host.append(this.#choices, label, this.#clear);
  }

  show({ rows, values }) {
    const fields = kFilterFields
      .map((field) => [field, choicesOf(rows, field)])
      .filter(([field, choices]) => choices.length > 1 || values[field]);
    const drawn = JSON.stringify([fields, values]);
    if (drawn !== this.#drawn && !this.#choices.contains(document.activeElement)) {
      this.#draw(fields, values);
      this.#drawn = drawn;
    }
    if (document.activeElement !== this.#search) this.#search.value = values.text ?? "";
    this.#clear.disabled = !kFilterFields.some((field) => values[field]) && !values.text;
  }

  #draw(fields, values) {
    this.#choices.replaceChildren(
      ...fields.map(([field, choices]) => {
        const options = [["", "all"], ...choices.map((value) => [String(value), textOf(field, value)])];
        if (values[field] && !options.some(([value]) => value === values[field])) {
          options.push([values[field], values[field]]);
        }
        return select(kLabels[field], options, values[field] ?? "", (value) => {
          document.activeElement.blur();
          this.#state.change({ [field]: value, page: "", cell: "" });
        });
      }),
    );
  }

  #clearAll() {
    const nothing = Object.fromEntries(kFilterFields.map((field) => [field, ""]));
    this.#state.change({ ...nothing, text: "", page: "", cell: "" });
  }
}

function choicesOf(rows, field) {
  const values = valuesOf(rows, field);
  return field === "layout" ? values.sort(layoutOrder) : values;
}

function textOf(field, value) {
  return field === "context" ? tokensText(value) : String(value);
}
