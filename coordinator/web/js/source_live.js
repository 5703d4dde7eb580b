/// Data of a running coordinator: loaded once, then kept fresh by server-sent events.

import { rowsFromColumns } from "./rows.js";

async function getJson(path) {
  const reply = await fetch(path, { headers: { Accept: "application/json" } });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return reply.json();
}

const sweepPath = (sweep) => `/api/sweeps/${encodeURIComponent(sweep.id)}`;

export class LiveSource {
  isLive = true;
  #told;

  /// told: {sweeps(list), agents(list), rows(sweepId, rows), stale(), connection(isOpen)}.
  start(told) {
    this.#told = told;
    const events = new EventSource("/api/events");
    const on = (name, take) =>
      events.addEventListener(name, (event) => take(JSON.parse(event.data)));
    on("sweeps", (sweeps) => told.sweeps(sweeps));
    on("agents", (agents) => told.agents(agents));
    on("rows", ({ sweep, columns }) => told.rows(sweep, rowsFromColumns(columns)));
    on("stale", () => told.stale());
    events.addEventListener("open", () => {
      told.connection(true);
      told.stale();
    });
    events.addEventListener("error", () => told.connection(false));
  }

  async rowsOf(sweep) {
    return rowsFromColumns(await getJson(`${sweepPath(sweep)}/columns`));
  }

  ceilingsOf(devices) {
    return getJson(`/api/model?device=${devices.map(encodeURIComponent).join("&device=")}`);
  }

  async fullRow(sweep, pointId) {
    const rows = await getJson(`${sweepPath(sweep)}/rows?point=${encodeURIComponent(pointId)}`);
    return rows[0] ?? null;
  }

  downloadsOf(sweep) {
    const path = `${sweepPath(sweep)}/rows`;
    return [
      { text: "Download CSV", href: `${path}?format=csv`, file: `${sweep.name}.csv` },
      { text: "Download JSON lines", href: `${path}?format=jsonl`, file: `${sweep.name}.jsonl` },
    ];
  }
}
