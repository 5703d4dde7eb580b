/// Data of a running coordinator: loaded once, then kept fresh by server-sent events.

import { Api } from "./api.js";
import { followEvents } from "./event_stream.js";
import { rowsFromColumns } from "./rows.js";

const sweepPath = (sweep) => `/api/sweeps/${encodeURIComponent(sweep.id)}`;

export class LiveSource {
  isLive = true;
  #api = new Api();

  /// told: {sweeps(list), agents(list), rows(sweepId, rows), stale(), connection(isOpen)}.
  start(told) {
    const takers = {
      sweeps: (sweeps) => told.sweeps(sweeps),
      agents: (agents) => told.agents(agents.map(dated)),
      rows: ({ sweep, columns }) => told.rows(sweep, rowsFromColumns(columns)),
      stale: () => told.stale(),
    };
    const connection = (isOpen) => {
      told.connection(isOpen);
      if (isOpen) told.stale();
    };
    followEvents(this.#api, "/api/events", (name, data) => takers[name]?.(data), connection);
  }

  async rowsOf(sweep) {
    return rowsFromColumns(await this.#api.json(`${sweepPath(sweep)}/columns`));
  }

  /// Roofs of the devices of a sweep.
  ceilingsOf(devices) {
    const wanted = devices.map((device) => `device=${encodeURIComponent(device)}`);
    return Promise.all(wanted.map((query) => this.#api.json(`/api/model?${query}`))).then((all) =>
      all.flat(),
    );
  }

  async fullRow(sweep, pointId) {
    const path = `${sweepPath(sweep)}/rows?point=${encodeURIComponent(pointId)}`;
    return (await this.#api.json(path))[0] ?? null;
  }

  downloadsOf(sweep) {
    return [
      ["CSV", "csv"],
      ["JSON lines", "jsonl"],
    ].map(([name, format]) => {
      const path = `${sweepPath(sweep)}/rows?format=${format}`;
      const file = { text: `Download ${name}`, file: `${sweep.name}.${format}` };
      // A plain link cannot carry a token.
      if (!this.#api.hasToken) return { ...file, href: path };
      return { ...file, make: async () => (await this.#api.get(path)).blob() };
    });
  }
}

/// The server says how long ago it heard of an agent, since clocks differ.
function dated(agent) {
  return { ...agent, last_heard_unix_s: Date.now() / 1000 - agent.heard_s_ago };
}
