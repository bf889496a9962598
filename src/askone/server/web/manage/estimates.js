// What the answers say of the whole table: a mean, a median, a share, an accuracy, with its interval.

import { get } from "../shared/api.js";
import { dataTable, el, show } from "../shared/dom.js";
import { bad, choice, field, text, words } from "../shared/fields.js";
import { count, percent, rounded, withUnit } from "../shared/format.js";

const NUMBERS = [["mean", "the mean"], ["median", "the median"], ["share above", "the share above …"]];

export class Estimates {
  constructor(shared) {
    this.shared = shared;
    this.labels = shared.record.settings.labels;
    this.numbers = this.labels.kind === "number";
    this.of = this.numbers ? "mean" : "accuracy";
    this.above = "";
    this.by = "";
    this.place = el("div", { "aria-live": "polite" });
    const above = field({ label: "Above" }, text("", (value) => { this.above = value; }, { inputmode: "decimal" }));
    above.hidden = true;
    const of = choice(this.of, NUMBERS, (value) => {
      this.of = value;
      above.hidden = value !== "share above";
    });
    const form = el("form", { class: "fields" },
      this.numbers ? field({ label: "Estimate" }, of) : null, above,
      field({ label: "By column", hint: "Empty: all rows together." }, text("", (value) => { this.by = value; })),
      el("div", { class: "field end" }, el("button", { type: "submit", class: "button" }, "Estimate")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.refresh();
    });
    this.element = el("section", { class: "card stack estimates" }, el("h2", {}, "The whole table"),
      el("p", { class: "muted small" }, "Predictions of all rows, corrected by the questions that measure: right even where the model is not."), form, this.place);
  }

  async refresh() {
    const of = this.of === "share above" ? `share above ${this.above.trim()}` : this.of;
    const by = this.by.trim() ? `&by=${encodeURIComponent(this.by.trim())}` : "";
    try {
      show(this.place, this.#draw(await get(`${this.shared.root}/estimate?what=${encodeURIComponent(of)}${by}`)));
    } catch (error) {
      if (!error.passing) show(this.place, bad(words(error)));
    }
  }

  #draw({ what, by, estimates }) {
    const isShare = what === "accuracy" || what.startsWith("share");
    const say = (value) => (value === null ? "–" : isShare ? percent(value) : withUnit(rounded(value, 4), this.labels.unit));
    const span = (low, high) => (low === null ? "too few answers" : `${say(low)} to ${say(high)}`);
    const number = { class: "number" };
    const heads = [by ? by : ["", {}, "Rows"], "Estimate", "95 of 100 cases", "However often one looks", "Model alone", ["Answers", number], ["Worth labels", number]];
    return el("div", { class: "stack" }, dataTable("Estimates of the whole table", heads, estimates.map((one) => el("tr", {},
      el("th", { scope: "row" }, one.group || "All rows"),
      el("td", { class: "strong nowrap" }, say(one.value)),
      el("td", {}, span(one.low, one.high)),
      el("td", {}, span(one.always_low, one.always_high)),
      el("td", {}, say(one.model)),
      el("td", number, count(one.bits)),
      el("td", number, one.labels === null ? "–" : count(Math.round(one.labels)))))),
      this.numbers && estimates.every((one) => one.low === null) ? el("p", { class: "muted small" }, "Questions that measure a mean come with exams = \"mean\" under [ask] in the settings.") : null);
  }
}
