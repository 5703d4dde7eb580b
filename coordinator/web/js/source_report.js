/// Data of a report: everything is in the page itself.

import { csvOf } from "./csv.js";
import { rowsFromColumns } from "./rows.js";

export class ReportSource {
  isLive = false;
  #data;
  #rows = new Map();

  /// data: {sweeps, columns: {sweep id: columns}, ceilings}, as `headsplit report` wrote it.
  constructor(data) {
    this.#data = data;
  }

  start(told) {
    told.sweeps(this.#data.sweeps);
  }

  async rowsOf(sweep) {
    if (!this.#rows.has(sweep.id)) {
      this.#rows.set(sweep.id, rowsFromColumns(this.#data.columns[sweep.id]));
    }
    return this.#rows.get(sweep.id);
  }

  async ceilingsOf() {
    return this.#data.ceilings;
  }

  async fullRow() {
    return null;
  }

  downloadsOf(sweep) {
    const rows = this.#rows.get(sweep.id);
    if (rows === undefined) return [];
    const names = Object.keys(this.#data.columns[sweep.id].columns);
    const make = () => new Blob([csvOf(rows, names)], { type: "text/csv" });
    return [{ text: "Download CSV", make, file: `${sweep.name}.csv` }];
  }
}
