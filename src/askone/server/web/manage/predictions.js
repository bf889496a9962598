// What the model says now about chosen rows, and how sure it is.

import { get } from "../shared/api.js";
import { debounced, el, sharp, show, stackedTable } from "../shared/dom.js";
import { bad, choice, field, text, words } from "../shared/fields.js";
import { count, percent, rounded, withUnit } from "../shared/format.js";
import { pager } from "./page.js";

const PAGE = 10;
const LONG = 120; // characters
const EVERY = 6000; // milliseconds between two looks while answers come in
const ORDERS = [["file", "in the table’s order"], ["unsure", "least sure first"]];

export class Predictions {
  /** `known(names)` is told of the columns that rows have. */
  constructor(shared, known = () => {}) {
    this.shared = shared;
    this.known = known;
    this.labels = shared.record.settings.labels;
    Object.assign(this, { search: "", order: "file", skip: 0, at: -1, seen: 0, turn: 0 });
    this.place = el("div", { "aria-live": "polite" });
    this.pages = el("div", { class: "line between" });
    const again = () => {
      this.skip = 0;
      this.refresh();
    };
    const later = debounced(again, 350);
    const form = el("form", { class: "prediction-form" },
      field({ label: "Search rows" }, text("", (value) => { this.search = value; later(); }, { type: "search", placeholder: "a name, or a word in a row" })),
      field({ label: "Order" }, choice(this.order, ORDERS, (value) => { this.order = value; again(); })));
    form.addEventListener("submit", (event) => event.preventDefault());
    const rowless = this.labels.kind === "order" && !(shared.record.rows > 1);
    this.element = el("section", { class: "card stack predictions" }, el("h2", {}, "Predictions"), rowless ? null : form, this.place, this.pages);
  }

  /** New answers have come: look again, but not all the time, and not while somebody looks through many rows. */
  learnt(answers) {
    const looking = this.order !== "file" || this.search.trim() !== "" || this.skip > 0;
    if (looking || answers === this.at || Date.now() - this.seen < EVERY) return;
    this.at = answers;
    this.refresh();
  }

  async refresh() {
    this.seen = Date.now();
    const turn = ++this.turn;
    const query = new URLSearchParams({ search: this.search.trim(), order: this.order, first: PAGE, skip: this.skip });
    try {
      const found = await get(`${this.shared.root}/rows?${query}`);
      if (turn !== this.turn) return;
      this.known([...new Set(found.rows.flatMap((one) => one.row.map(({ name }) => name)))]);
      show(this.place, found.rows.length ? this.#draw(found.rows) : el("p", { class: "empty" }, "No row has this in it."));
      this.#drawPages(found);
    } catch (error) {
      if (!error.passing && turn === this.turn) show(this.place, bad(words(error)));
    }
  }

  #drawPages({ total, weighed, rows }) {
    const some = weighed < total ? `, of ${count(weighed)} drawn from ${count(total)}` : ` of ${count(total)}`;
    const said = (range) => `Rows ${range}${some}`;
    show(this.pages, ...pager({ size: PAGE, skip: this.skip, shown: rows.length, total: weighed, said }, (skip) => {
      this.skip = skip;
      this.refresh();
    }));
  }

  #draw(list) {
    if (this.labels.kind === "order" && list.length === 1) return ranking(list[0]);
    const counted = list.some((one) => one.answers !== undefined);
    const range = this.labels.kind === "number" ? span(list, this.labels) : null;
    const heads = ["Row", ["", { class: "about" }, "Columns"], "Prediction", range ? "Where the label lies" : "How sure", ...(counted ? [["Answers", { class: "number" }]] : [])];
    return stackedTable("Predictions", heads, list.map((one) => el("tr", {},
      el("th", { scope: "row" }, el("span", { class: "row-name" }, thumbnail(one), el("span", {}, one.key))),
      el("td", { class: "about muted small" }, describe(one)),
      el("td", { class: "strong nowrap" }, Array.isArray(one.prediction) ? one.prediction.join(" › ") : typeof one.prediction === "number" && range ? withUnit(rounded(one.prediction, 4), this.labels.unit) : String(one.prediction ?? "–")),
      el("td", {}, range ? interval(one, range, this.labels.unit) : chances(one.probabilities)),
      counted ? el("td", { class: "number" }, count(one.answers ?? 0)) : null)), { caption: el("caption", { class: "visually-hidden" }, "Predictions on chosen rows") });
  }
}

/** The row's picture, small. Only this site's own addresses are fetched. */
export function thumbnail({ image, key }) {
  if (typeof image !== "string" || !/^\/(?!\/)/.test(image)) return null;
  const picture = el("img", { class: "thumbnail", src: image, alt: `Picture of ${key}`, loading: "lazy", width: "48", height: "48" });
  picture.addEventListener("error", () => picture.remove());
  return sharp(picture);
}

/** What people see of a row: all its columns; a long text is folded, and opens whole. */
function describe({ key, row: fields }) {
  const rest = fields.filter((one) => ![key, ""].includes(String(one.value ?? "")));
  const short = rest.filter((one) => String(one.value).length <= LONG).map((one) => `${one.name} ${one.value}`).join(" · ");
  const long = rest.filter((one) => String(one.value).length > LONG);
  return [short, ...long.map((one) => el("details", {}, el("summary", { dir: "auto" }, `${String(one.value).slice(0, LONG)}…`), el("p", { class: "whole", dir: "auto" }, String(one.value))))];
}

const ends = (one) => [one.low ?? one.prediction_low ?? one.prediction, one.high ?? one.prediction_high ?? one.prediction];

/** From where to where the bars go: the declared range, or what the predictions take. */
function span(list, labels) {
  if (typeof labels.low === "number" && typeof labels.high === "number") return [labels.low, labels.high];
  const all = list.filter((one) => typeof one.prediction === "number").flatMap(ends);
  return [Math.min(...all), Math.max(...all)];
}

/** The prediction as a dot and the interval of the label as a bar, on the range of the labels. */
function interval(one, [least, most], unit) {
  if (typeof one.prediction !== "number") return "";
  const within = (value) => Math.max(least, Math.min(most, value));
  const [low, high] = ends(one).map(within);
  const known = high > low;
  const at = (value) => `${(100 * (value - least)) / (most - least || 1)}%`;
  const bar = el("span", { class: "interval-bar" });
  bar.style.left = at(low);
  bar.style.width = `${(100 * (high - low)) / (most - least || 1)}%`;
  const dot = el("span", { class: "interval-dot" });
  dot.style.left = at(within(one.prediction));
  return el("span", { class: "interval-cell" }, el("span", { class: "interval", "aria-hidden": "true" }, bar, dot), el("span", { class: "small muted number" }, known ? withUnit(`${rounded(low, 4)} to ${rounded(high, 4)}`, unit) : "not known yet"));
}

/** The three likeliest classes. */
function chances(probabilities) {
  if (!probabilities) return "";
  const best = Object.entries(probabilities).sort(([, a], [, b]) => b - a).slice(0, 3);
  return el("span", { class: "chances" }, best.map(([name, share]) => {
    const fill = el("span", { class: "chance-fill" });
    fill.style.width = `${100 * share}%`;
    return el("span", { class: "chance" }, el("span", { class: "chance-name" }, name), el("span", { class: "chance-bar", "aria-hidden": "true" }, fill), el("span", { class: "number small muted" }, percent(share)));
  }));
}

/** All items from first to last. */
function ranking(one) {
  const names = Array.isArray(one.prediction) ? one.prediction : [one.prediction];
  return el("ol", { class: "ranking" }, names.map((name) => el("li", {}, String(name), one.probabilities?.[name] === undefined ? null : el("span", { class: "muted small" }, ` ${percent(one.probabilities[name])}`))));
}
