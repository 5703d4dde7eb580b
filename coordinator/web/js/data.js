/// What the page knows: sweeps, agents, the rows of the chosen sweep and the ceilings of its
/// devices.  Keeps itself fresh from a source and tells what changed.

import { isFinished } from "./sweep.js";
import { RowList } from "./rows.js";

export class Data {
  sweeps = [];
  agents = [];
  ceilings = [];
  list = new RowList();
  #source;
  #told;
  #chosen = null;
  #devices = "";
  #turn = 0;
  #arrived = [];

  /// told: {rows(), status(), sweeps(), connection(isOpen), fault(text)}.
  constructor(source, told) {
    this.#source = source;
    this.#told = told;
  }

  start() {
    this.#source.start({
      sweeps: (sweeps) => this.#takeSweeps(sweeps),
      agents: (agents) => {
        this.agents = agents;
        this.#told.status();
      },
      rows: (sweepId, rows) => this.#takeRows(sweepId, rows),
      stale: () => this.#load(),
      connection: (isOpen) => this.#told.connection(isOpen),
    });
  }

  /// The wanted sweep, by id or name; else the first unfinished one, else the latest.
  sweepOf(wanted) {
    const named = this.sweeps.find((one) => one.id === wanted || one.name === wanted);
    return named ?? this.sweeps.find((one) => !isFinished(one)) ?? this.sweeps.at(-1) ?? null;
  }

  /// Rows of this sweep from here on; another sweep's are dropped at once.
  choose(sweep) {
    if (sweep === null || sweep.id === this.#chosen?.id) return;
    this.#chosen = sweep;
    this.list.replace([]);
    this.#load();
  }

  #takeSweeps(sweeps) {
    const names = (list) => JSON.stringify(list.map((one) => [one.id, one.name]));
    const changed = names(sweeps) !== names(this.sweeps);
    this.sweeps = sweeps;
    if (changed) this.#told.sweeps();
    else this.#told.status();
  }

  #takeRows(sweepId, rows) {
    if (sweepId !== this.#chosen?.id) return;
    this.#arrived.push(...rows);
    for (const row of rows) this.list.put(row);
    this.#learnCeilings().catch((fault) => this.#told.fault(fault.message));
    this.#told.rows();
  }

  /// All rows anew.  Those that events bring meanwhile are newer, and stay.
  async #load() {
    const sweep = this.#chosen;
    if (sweep === null) return;
    const turn = ++this.#turn;
    this.#arrived = [];
    try {
      const rows = await this.#source.rowsOf(sweep);
      if (turn !== this.#turn) return;
      this.list.replace([...rows, ...this.#arrived]);
      await this.#learnCeilings();
      this.#told.fault("");
    } catch (fault) {
      this.#told.fault(`Could not load the rows of ${sweep.name}: ${fault.message}`);
    }
    this.#told.rows();
  }

  async #learnCeilings() {
    const devices = [...new Set(this.list.all.map((row) => row.device))].filter(Boolean).sort();
    if (devices.length === 0 || devices.join() === this.#devices) return;
    this.#devices = devices.join();
    this.ceilings = await this.#source.ceilingsOf(devices);
  }
}
