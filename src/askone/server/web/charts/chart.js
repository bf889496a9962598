// A chart on the page: drawn to the room there is, read by pointer, by keys or as a table, and taken away as a file.

import { saveAs, savePng, saveSvg } from "../shared/download.js";
import { el, freshId, s, scroller, show } from "../shared/dom.js";

/**
 * `draw(data, width, options)` gives {svg, stops, box, rest}: stops are {x, y, text} in reading order, at which the values can
 * be read, rest is the one shown while nobody reads (the last). `table(data)` gives {head, rows}. `empty` says what to do while there is nothing to draw.
 * `least(width)` is the height of a drawing that grows into the room there is, in `options.height`.
 */
export class Figure {
  constructor({ title, note = "", draw, table, empty, toggles = [], extra = null, by = "x", least = null }) {
    Object.assign(this, { title, draw, table, empty, by, least });
    this.data = undefined;
    this.options = {};
    this.at = null;
    const id = freshId("figure");
    this.value = el("output", { class: "chart-value" });
    this.stage = el("div", {
      class: least ? "chart-stage grows" : "chart-stage", role: "slider", tabindex: "0", "aria-labelledby": id, "aria-valuemin": "0", "aria-valuemax": "0", "aria-valuenow": "0",
      onkeydown: (event) => this.#key(event), onpointermove: (event) => this.#point(event), onpointerdown: (event) => this.#point(event),
      onpointerleave: () => this.#leave(), onfocus: () => this.#go(this.at ?? this.rest ?? 0), onblur: () => this.#leave(),
    });
    this.note = el("p", { class: "chart-note" }, note);
    this.controls = el("div", { class: "chart-controls" }, extra, toggles.map((toggle) => this.#toggle(toggle)));
    this.grid = scroller(`${title} as a table`);
    this.details = el("details", { class: "chart-table", ontoggle: () => this.#fillTable() }, el("summary", {}, "As a table"), this.grid);
    this.foot = el("div", { class: "chart-foot" }, this.details,
      el("div", { class: "chart-files" }, "Save as",
        this.#file("SVG", () => saveSvg(this.svg, this.title)),
        this.#file("PNG", () => savePng(this.svg, this.title)),
        this.#file("CSV", () => saveAs(this.#csv(), "text/csv", "chart.csv"))));
    this.element = el("figure", { class: "chart-figure card" },
      el("figcaption", {}, el("h2", { id }, title), this.controls), this.note, this.value, this.stage, this.foot);
    this.seen = new ResizeObserver(() => requestAnimationFrame(() => this.#redraw()));
    this.seen.observe(this.stage);
  }

  /** Shows new data; the place that is being read stays. */
  update(data, note) {
    this.data = data;
    if (note !== undefined) this.note.textContent = note;
    this.width = 0;
    this.#redraw();
  }

  #toggle({ name, text }) {
    const box = el("input", { type: "checkbox", onchange: () => {
      this.options[name] = box.checked;
      this.width = 0;
      this.#redraw();
    } });
    return el("label", { class: "toggle" }, box, " ", text);
  }

  #file(kind, save) {
    return el("button", { type: "button", class: "button quiet small", "aria-label": `Download ${this.title} as ${kind}`, onclick: save }, kind);
  }

  #redraw() {
    const width = Math.floor(this.stage.clientWidth);
    if (!width || width === this.width) return;
    this.width = width;
    const drawn = this.data ? this.draw(this.data, width, { ...this.options, height: this.#room(width) }) : null;
    this.foot.hidden = this.value.hidden = this.note.hidden = !drawn;
    this.stage.tabIndex = drawn ? 0 : -1;
    if (!drawn) {
      show(this.stage, el("p", { class: "empty" }, this.data === undefined ? "Loading …" : this.empty));
      this.svg = null;
      this.stops = [];
      return;
    }
    this.svg = drawn.svg;
    this.stops = drawn.stops;
    this.box = drawn.box;
    this.rest = drawn.rest ?? this.stops.length - 1;
    this.cursor = s("g", { "data-helper": "" });
    this.svg.append(this.cursor);
    show(this.stage, this.svg);
    this.stage.setAttribute("aria-valuemax", Math.max(0, this.stops.length - 1));
    if (this.at !== null) this.#go(this.at);
    else this.#rest();
    if (this.details.open) this.#fillTable();
  }

  /** The height there is beside a taller chart, where the drawing grows: not much higher than wide. */
  #room(width) {
    if (!this.least) return null;
    this.foot.hidden = this.value.hidden = this.note.hidden = false;
    this.stage.style.minHeight = `${this.least(width)}px`;
    return Math.min(this.stage.clientHeight, Math.round(1.2 * width));
  }

  /** Nobody reads a place: the latest value is shown. */
  #rest() {
    this.at = null;
    this.value.textContent = this.stops[this.rest]?.text ?? "";
    this.value.classList.remove("read");
    this.cursor?.replaceChildren();
    this.#say(this.rest);
  }

  #say(index) {
    const stop = this.stops[index];
    if (!stop) return;
    this.stage.setAttribute("aria-valuenow", index);
    this.stage.setAttribute("aria-valuetext", stop.text);
  }

  #go(index) {
    if (!this.svg || !this.stops.length) return;
    this.at = Math.max(0, Math.min(this.stops.length - 1, index));
    const { x, y, text } = this.stops[this.at];
    this.#say(this.at);
    this.value.textContent = text;
    this.value.classList.add("read");
    this.cursor.replaceChildren(
      ...(this.by === "x" ? [s("line", { class: "cursor", x1: x, x2: x, y1: this.box.top, y2: this.box.bottom })] : []),
      s("circle", { class: "cursor-dot", cx: x, cy: y, r: 6 }),
    );
  }

  #leave() {
    if (document.activeElement === this.stage) return;
    if (this.svg) this.#rest();
  }

  #point(event) {
    if (!this.svg) return;
    const place = this.svg.getBoundingClientRect();
    const [x, y] = [event.clientX - place.left, event.clientY - place.top];
    let best = -1;
    let least = Infinity;
    this.stops.forEach((stop, i) => {
      const distance = this.by === "x" ? Math.abs(stop.x - x) : Math.hypot(stop.x - x, stop.y - y);
      if (distance < least) [best, least] = [i, distance];
    });
    if (best >= 0) this.#go(best);
  }

  #key(event) {
    const now = this.at ?? this.rest;
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.#go(now + steps[event.key]);
  }

  #fillTable() {
    if (!this.details.open || !this.data) return;
    const { head, rows } = this.table(this.data);
    show(this.grid, el("table", {}, el("caption", { class: "visually-hidden" }, this.title),
      el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, rows.slice(-200).map((row) => el("tr", {}, row.map((cell) => el("td", {}, String(cell))))))));
  }

  #csv() {
    const { head, rows } = this.table(this.data);
    const cell = (value) => {
      const text = typeof value === "number" ? String(value) : /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
  }
}
