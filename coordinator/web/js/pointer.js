/// Finds the point under the mouse or the next one by keys, rings it and tells what it is.

import { element } from "./dom.js";

const kReach_px = 24;

/// Whether two places show one thing, though the plot was drawn anew between them.
function isSame(one, other) {
  const id = ({ point }) => (point.row ?? point.summary.row).point_id;
  return (
    one.series.key === other.series.key &&
    one.series.hollow === other.series.hollow &&
    id(one) === id(other)
  );
}

export class Pointer {
  #frame;
  #ring = element("div", { class: "ring", hidden: true });
  #tip = element("div", { class: "tip", role: "status", hidden: true });
  #chart = null;
  #spec = null;
  #isShown = () => true;
  #found = null;
  #chosen = null;
  #onpick;

  constructor(frame, onpick) {
    this.#frame = frame;
    this.#onpick = onpick;
    frame.append(this.#tip);
    frame.addEventListener("keydown", (event) => this.#key(event));
    frame.addEventListener("blur", () => this.#choose(null));
  }

  /// Takes over what the plot now shows.
  follow(chart, spec, isShown) {
    if (this.#chart !== chart) {
      chart.over.append(this.#ring);
      chart.over.addEventListener("click", () => this.#pick());
      chart.over.addEventListener("mouseleave", () => this.#choose(null));
    }
    this.#chart = chart;
    this.#spec = spec;
    this.#isShown = isShown;
    this.#found = null;
    const chosen = this.#chosen;
    this.#choose(null);
    if (chosen) this.#choose(this.#places.find((place) => isSame(place, chosen)) ?? null);
  }

  /// Every point shown, from left to right; gathered when somebody points, since a plot is drawn
  /// more often than that.
  get #places() {
    if (this.#found !== null) return this.#found;
    this.#found = [];
    for (const series of this.#spec.series.filter(this.#isShown)) {
      if (series.marker === false) continue;
      for (const point of series.points) this.#found.push({ series, point });
    }
    this.#found.sort((a, b) => a.point.x - b.point.x || a.point.y - b.point.y);
    return this.#found;
  }

  /// The mouse moved.
  point(chart) {
    const { left, top } = chart.cursor;
    if (left < 0 || this.#chart !== chart) return;
    let nearest = null;
    let least = kReach_px ** 2;
    for (const place of this.#places) {
      const dx = chart.valToPos(place.point.x, "x") - left;
      const dy = chart.valToPos(place.point.y, "y") - top;
      const distance = dx * dx + dy * dy;
      if (distance < least) [nearest, least] = [place, distance];
    }
    this.#choose(nearest);
  }

  #pick() {
    if (this.#chosen) this.#onpick(this.#chosen.point);
  }

  #key(event) {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 10, ArrowDown: -10 };
    if (event.key === "Enter") {
      this.#pick();
    } else if (event.key === "Escape") {
      this.#choose(null);
    } else if (event.key in steps && this.#places.length > 0) {
      const from = this.#places.indexOf(this.#chosen);
      const to = from < 0 ? 0 : from + steps[event.key];
      this.#choose(this.#places[Math.min(Math.max(to, 0), this.#places.length - 1)]);
    } else {
      return;
    }
    event.preventDefault();
  }

  #choose(place) {
    if (place === this.#chosen) return;
    this.#chosen = place;
    this.#ring.hidden = this.#tip.hidden = place === null;
    if (place === null) return;
    const left = this.#chart.valToPos(place.point.x, "x");
    const top = this.#chart.valToPos(place.point.y, "y");
    this.#ring.style.setProperty("transform", `translate(${left - 9}px, ${top - 9}px)`);
    const { title, lines } = this.#spec.describe(place.point, place.series);
    this.#tip.replaceChildren(
      element("strong", {}, title),
      element("dl", {}, lines.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]).flat()),
    );
    this.#moveTip(left, top);
  }

  /// Beside the point, on the side with room.
  #moveTip(left, top) {
    const over = this.#chart.over;
    const x = over.offsetLeft + left;
    const y = over.offsetTop + top;
    const width = this.#tip.offsetWidth;
    const height = this.#tip.offsetHeight;
    const toLeft = x + 16 + width > this.#frame.clientWidth;
    const shiftedX = toLeft ? Math.max(0, x - 16 - width) : x + 16;
    const shiftedY = Math.min(Math.max(0, y - height / 2), this.#frame.clientHeight - height);
    this.#tip.style.setProperty("transform", `translate(${shiftedX}px, ${Math.max(0, shiftedY)}px)`);
  }
}
