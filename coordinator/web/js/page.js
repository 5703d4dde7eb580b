/// The page: data on one side, views on the other, the address bar between them.

import { Data } from "./data.js";
import { isNews, select, setText } from "./dom.js";
import { downloadLink } from "./download.js";
import { Filters } from "./filters.js";
import { markFirstPlot, nextFrame, nextTask } from "./moments.js";
import { looksOfLayouts } from "./palette.js";
import { containing, matching } from "./rows.js";
import { PageState } from "./state.js";
import { installTheme } from "./theme.js";
import { ErosionView } from "./view_erosion.js";
import { FleetView } from "./view_fleet.js";
import { LayoutsView } from "./view_layouts.js";
import { MapView } from "./view_map.js";
import { ProgressView } from "./view_progress.js";
import { RooflineView } from "./view_roofline.js";
import { RowView } from "./view_row.js";
import { TableView } from "./view_table.js";

const kQuietBetweenDraws_ms = 500;
const kClock_ms = 1000;

export class Page {
  #source;
  #state = new PageState(window);
  #data;
  #views;
  #drawTimer = null;
  #drawn_ms = 0;
  #turn = 0;
  #isDrawing = false;
  #isStale = false;
  #viewShown = "";

  constructor(source) {
    this.#source = source;
    this.#data = new Data(source, {
      rows: () => this.#drawSoon(),
      status: () => this.#drawStatus(),
      sweeps: () => this.#draw(),
      connection: (isOpen) => tellConnection(isOpen),
      fault: (text) => tellFault(text),
    });
    this.#views = this.#makeViews();
    for (const id of source.isLive ? [] : ["fleet", "connection"]) byId(id).hidden = true;
    for (const link of document.querySelectorAll("nav.views a")) this.#wire(link);
  }

  start() {
    installTheme(byId("theme"), () => {
      this.#views.roofline.recolour();
      this.#views.erosion.recolour();
    });
    this.#state.listen(() => this.#draw());
    this.#data.start();
    setInterval(() => this.#drawStatus(), kClock_ms);
    this.#draw();
  }

  #makeViews() {
    const at = (id) => document.querySelector(`#${id} .body`);
    const state = this.#state;
    return {
      progress: new ProgressView(at("progress"), state),
      fleet: new FleetView(at("fleet")),
      filters: new Filters(at("filters"), state),
      row: new RowView(document.body, state, this.#source),
      roofline: new RooflineView(at("roofline"), state),
      erosion: new ErosionView(at("erosion"), state),
      layouts: new LayoutsView(at("layouts"), state),
      map: new MapView(at("map"), state),
      rows: new TableView(at("rows"), state, () => this.#downloads()),
    };
  }

  #wire(link) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      this.#viewShown = "";
      this.#state.change({ view: link.dataset.view });
      this.#scrollTo(link.dataset.view);
    });
  }

  get #sweep() {
    return this.#data.sweepOf(this.#state.values.sweep);
  }

  get #status() {
    return {
      sweep: this.#sweep,
      agents: this.#data.agents,
      rows: this.#data.list.all,
      now_s: Date.now() / 1000,
    };
  }

  /// What one drawing is of: rows that arrive while it goes on belong to the next.
  get #context() {
    const values = this.#state.values;
    const status = { ...this.#status, rows: [...this.#data.list.all] };
    const narrowed = (wanted) => containing(matching(status.rows, wanted), values.text);
    return {
      ...status,
      values,
      list: this.#data.list,
      ceilings: this.#data.ceilings,
      filtered: narrowed(values),
      anyLayout: narrowed({ ...values, layout: "", status: "" }),
      looks: looksOfLayouts(status.rows.map((row) => row.layout)),
    };
  }

  #drawSoon() {
    if (this.#drawTimer !== null) return;
    if (this.#isDrawing) {
      this.#isStale = true;
      return;
    }
    const wait = Math.max(0, this.#drawn_ms + kQuietBetweenDraws_ms - performance.now());
    this.#drawTimer = setTimeout(() => this.#draw(), this.#drawn_ms === 0 ? 0 : wait);
  }

  async #draw() {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = null;
    this.#isDrawing = true;
    const turn = ++this.#turn;
    try {
      this.#data.choose(this.#sweep);
      await this.#drawViews(this.#context, turn);
    } finally {
      if (turn === this.#turn) this.#endDrawing();
    }
  }

  /// View by view.  Each has a task of its own, so that the browser shows it and hears the reader
  /// before the next; a newer drawing takes over from an older one.
  async #drawViews(context, turn) {
    this.#drawChoice(context.sweep);
    for (const [name, view] of Object.entries(this.#views)) {
      view.show(context);
      if (context.rows.length === 0) continue;
      if (name === "roofline") markFirstPlot();
      await (name === "roofline" ? nextFrame() : nextTask());
      if (turn !== this.#turn) return;
    }
    if (context.rows.length > 0) this.#scrollTo(context.values.view ?? "");
  }

  #endDrawing() {
    this.#isDrawing = false;
    this.#drawn_ms = this.#data.list.all.length > 0 ? performance.now() : 0;
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#drawSoon();
  }

  /// Only what changes every second.
  #drawStatus() {
    this.#views.progress.show(this.#status);
    this.#views.fleet.show(this.#status);
  }

  #drawChoice(sweep) {
    const host = byId("sweep");
    const choices = this.#data.sweeps.map((one) => [one.id, one.name]);
    const key = JSON.stringify([choices, sweep?.id]);
    if (!isNews(host, key)) return;
    const choose = (id) => this.#state.change({ sweep: id, row: "", cell: "", page: "" });
    host.replaceChildren(choices.length > 0 ? select("Sweep", choices, sweep?.id, choose) : "");
    document.title = sweep ? `${sweep.name} · headsplit` : "headsplit";
  }

  #downloads() {
    if (this.#sweep === null || this.#data.list.all.length === 0) return [];
    return this.#source.downloadsOf(this.#sweep).map(downloadLink);
  }

  /// Once for each view that the address names, when there is something to see.
  #scrollTo(view) {
    if (view === this.#viewShown) return;
    this.#viewShown = view;
    if (view) byId(view)?.scrollIntoView({ block: "start" });
  }
}

function byId(id) {
  return document.getElementById(id);
}

function tellConnection(isOpen) {
  setText(byId("connection"), isOpen ? "● live" : "○ connection lost, trying again");
  byId("connection").classList.toggle("lost", !isOpen);
}

function tellFault(text) {
  byId("fault").hidden = text === "";
  setText(byId("fault"), text);
}
