/// Progress of the chosen sweep: how far, how fast, what failed and why.

import { element, emptyState, setText } from "./dom.js";
import { figure, spanText } from "./format.js";
import { doneOf, isFinished, troubles } from "./sweep.js";

const kParts = ["ok", "failed", "skipped", "cancelled", "running", "pending"];
const kTroublesMost = 8;

export class ProgressView {
  #state;
  #bar = element("div", { class: "meter" });
  #line = element("p", { class: "headline" });
  #counts = element("ul", { class: "counts" });
  #troubles = element("div", { class: "troubles" });
  #empty = emptyState(
    "No sweep yet.",
    "Start one: ",
    element("code", {}, "headsplit submit configs/sweeps/quick.yaml --coordinator URL"),
    " or ",
    element("code", {}, "headsplit run configs/sweeps/quick.yaml"),
  );

  constructor(host, state) {
    this.#state = state;
    host.append(this.#line, this.#bar, this.#counts, this.#troubles, this.#empty);
    for (const part of kParts) this.#bar.append(element("div", { class: `part ${part}` }));
  }

  show({ sweep, rows }) {
    const parts = [this.#line, this.#bar, this.#counts, this.#troubles];
    for (const part of parts) part.hidden = !sweep;
    this.#empty.hidden = Boolean(sweep);
    if (!sweep) return;
    setText(this.#line, headline(sweep));
    this.#drawBar(sweep);
    this.#drawTroubles(rows);
  }

  #drawBar(sweep) {
    this.#bar.setAttribute("role", "progressbar");
    this.#bar.setAttribute("aria-valuemax", sweep.points);
    this.#bar.setAttribute("aria-valuenow", doneOf(sweep));
    this.#bar.setAttribute("aria-label", "points done");
    kParts.forEach((part, i) => {
      const share = sweep.points > 0 ? (100 * (sweep[part] ?? 0)) / sweep.points : 0;
      this.#bar.children[i].style.width = `${share}%`;
    });
    const entries = kParts.filter((part) => sweep[part] > 0).map((part) => `${sweep[part]} ${part}`);
    if (sweep.resumed > 0) entries.push(`${sweep.resumed} of these resumed from an earlier run`);
    const text = entries.join("|");
    if (this.#counts.dataset.text === text) return;
    this.#counts.dataset.text = text;
    this.#counts.replaceChildren(
      ...entries.map((entry) => element("li", { class: entry.split(" ")[1] }, entry)),
    );
  }

  #drawTroubles(rows) {
    const found = troubles(rows);
    const shown = found.slice(0, kTroublesMost);
    const text = JSON.stringify(shown.map(({ status, reason, count }) => [status, reason, count]));
    if (this.#troubles.dataset.text === text) return;
    this.#troubles.dataset.text = text;
    this.#troubles.replaceChildren();
    if (shown.length === 0) return;
    const items = shown.map(({ status, reason, count }) =>
      element(
        "li",
        {},
        element("a", { href: this.#state.address({ status, text: reason, view: "rows" }) }, `${count} ${status}`),
        `: ${reason || "no reason given"}`,
      ),
    );
    const more = found.length - shown.length;
    if (more > 0) items.push(element("li", {}, `${more} more reasons in the table of rows`));
    this.#troubles.append(element("h3", {}, "What did not run, and why"), element("ul", {}, items));
  }
}

/// The rate is of lately, as the coordinator counts it; a report has none.
function headline(sweep) {
  const done = `${doneOf(sweep)} of ${sweep.points} points`;
  if (isFinished(sweep)) return `${done}: finished`;
  const rate = sweep.rate_per_s ?? 0;
  if (rate === 0) return `${done}: nothing has ended lately`;
  const speed = rate >= 1 ? `${figure(rate)} points/s` : `${figure(rate * 60)} points/min`;
  const left = Number.isFinite(sweep.eta_s) ? `, ${spanText(sweep.eta_s)} left` : "";
  return `${done}, ${speed}${left}`;
}
