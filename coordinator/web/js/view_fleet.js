/// The fleet: who is connected, with what device, doing what.  Lines are kept and only their
/// changed texts are set, so that sixty agents may speak every second.

import { element, emptyState, setText } from "./dom.js";
import { bytesText, figure, spanText } from "./format.js";

const kHead = ["Agent", "Node", "Device", "Doing", "Last heard", "SM clock", "Power", "Temperature", "Memory"];
const kQuiet_s = 3;

export class FleetView {
  #lines = new Map();
  #body = element("tbody");
  #table;
  #summary = element("p", { class: "headline" });
  #empty = emptyState(
    "No agent is connected.",
    "Start one on each machine: ",
    element("code", {}, `headsplit-agent --coordinator ${location.origin}`),
  );

  constructor(host) {
    const head = kHead.map((name) => element("th", { scope: "col" }, name));
    this.#table = element(
      "table",
      { class: "fleet" },
      element("thead", {}, element("tr", {}, head)),
      this.#body,
    );
    host.append(this.#summary, element("div", { class: "scroll" }, this.#table), this.#empty);
  }

  show({ agents, now_s }) {
    this.#empty.hidden = agents.length > 0;
    this.#table.hidden = this.#summary.hidden = agents.length === 0;
    const busy = agents.filter((one) => one.working_on).length;
    setText(this.#summary, `${agents.length} connected, ${busy} at work`);
    const present = new Set(agents.map((one) => one.session));
    for (const [session, line] of this.#lines) {
      if (present.has(session)) continue;
      line.remove();
      this.#lines.delete(session);
    }
    for (const one of agents) this.#fill(this.#lineOf(one), one, now_s);
  }

  #lineOf(one) {
    let line = this.#lines.get(one.session);
    if (line === undefined) {
      line = element(
        "tr",
        {},
        kHead.map((name, i) => element(i === 0 ? "th" : "td", { "data-name": name })),
      );
      line.children[0].setAttribute("scope", "row");
      this.#lines.set(one.session, line);
      this.#body.append(line);
    }
    return line;
  }

  #fill(line, one, now_s) {
    const quiet_s = Math.max(0, now_s - one.last_heard_unix_s);
    const texts = [
      one.agent.name,
      one.agent.node,
      `${one.agent.device} (${one.agent.backend})`,
      one.working_on
        ? `▶ ${one.working_on_label || one.working_on}`
        : one.held_back || "idle",
      quiet_s < kQuiet_s ? "now" : `${spanText(quiet_s)} ago`,
      one.sm_clock_mhz ? `${figure(one.sm_clock_mhz)} MHz` : "–",
      one.power_w ? `${figure(one.power_w)} W` : "–",
      one.temperature_c ? `${figure(one.temperature_c)} °C` : "–",
      bytesText(one.agent.memory_bytes),
    ];
    texts.forEach((text, i) => setText(line.children[i], text));
    line.classList.toggle("quiet", quiet_s >= kQuiet_s);
  }
}
