// What the model says now about chosen rows, and how sure it is.

import { get } from "../shared/api.js";
import { dataTable, el, show } from "../shared/dom.js";
import { bad, field, text, words } from "../shared/fields.js";
import { count, percent, rounded, withUnit } from "../shared/format.js";

const FIRST = 6;
const EVERY = 6000; // milliseconds between two looks while answers come in

export class Predictions {
  constructor(shared) {
    this.shared = shared;
    this.labels = shared.record.settings.labels;
    this.keys = "";
    this.at = -1;
    this.seen = 0;
    this.place = el("div");
    const input = text("", (value) => { this.keys = value; }, { placeholder: "12, 40, flat-7" });
    const form = el("form", { class: "prediction-form" },
      field({ label: "Rows, by name", hint: `Separated by commas. Empty: the first ${FIRST}.` }, input), el("button", { type: "submit", class: "button" }, "Show"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.refresh();
    });
    this.element = el("section", { class: "card stack predictions" }, el("h2", {}, "Predictions"), this.labels.kind === "order" ? null : form, this.place);
  }

  /** New answers have come: look again, but not all the time. */
  learnt(answers) {
    if (answers === this.at || Date.now() - this.seen < EVERY) return;
    this.at = answers;
    this.refresh();
  }

  async refresh() {
    this.seen = Date.now();
    const keys = this.keys.split(",").map((key) => key.trim()).filter(Boolean);
    const query = keys.length ? `keys=${keys.map(encodeURIComponent).join(",")}` : `first=${FIRST}`;
    try {
      const list = await get(`${this.shared.root}/predictions?${query}`);
      show(this.place, list.length ? this.#draw(list) : el("p", { class: "empty" }, "No row has such a name."));
    } catch (error) {
      if (!error.passing) show(this.place, bad(words(error)));
    }
  }

  #draw(list) {
    if (this.labels.kind === "order" && list.length === 1) return ranking(list[0]);
    const counted = list.some((one) => one.answers !== undefined);
    const range = this.labels.kind === "number" ? span(list, this.labels) : null;
    const heads = ["Row", ["", { class: "about" }, "Columns"], "Prediction", range ? "Where the label lies" : "How sure", ...(counted ? [["Answers", { class: "number" }]] : [])];
    return dataTable("Predictions", heads, list.map((one) => el("tr", {},
      el("th", { scope: "row" }, el("span", { class: "row-name" }, thumbnail(one), el("span", {}, one.key))),
      el("td", { class: "about muted small" }, describe(one)),
      el("td", { class: "strong nowrap" }, Array.isArray(one.prediction) ? one.prediction.join(" › ") : typeof one.prediction === "number" && range ? withUnit(rounded(one.prediction, 4), this.labels.unit) : String(one.prediction ?? "–")),
      el("td", {}, range ? interval(one, range, this.labels.unit) : chances(one.probabilities)),
      counted ? el("td", { class: "number" }, count(one.answers ?? 0)) : null)), { caption: el("caption", { class: "visually-hidden" }, "Predictions on chosen rows") });
  }
}

/** The row's picture, small. Only this site's own addresses are fetched. */
function thumbnail({ image, key }) {
  if (typeof image !== "string" || !/^\/(?!\/)/.test(image)) return null;
  const picture = el("img", { class: "thumbnail", src: image, alt: `Picture of ${key}`, loading: "lazy", width: "48", height: "48" });
  picture.addEventListener("error", () => picture.remove());
  return picture;
}

function describe({ key, row: fields }) {
  return fields.filter((one) => String(one.value) !== key).slice(0, 3).map((one) => `${one.name} ${short(String(one.value))}`).join(" · ");
}
const short = (value) => (value.length > 24 ? `${value.slice(0, 23)}…` : value);

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
