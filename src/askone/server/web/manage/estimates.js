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
    this.groups = el("select", { onchange: (event) => { this.by = event.target.value; } });
    this.grouped = field({ label: "By column" }, this.groups);
    this.offer([]);
    const form = el("form", { class: "fields" },
      this.numbers ? field({ label: "Estimate" }, of) : null, above, this.grouped,
      el("div", { class: "field end" }, el("button", { type: "submit", class: "button" }, "Estimate")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.refresh();
    });
    this.element = el("section", { class: "card stack estimates" }, el("h2", {}, "The whole table"),
      el("p", { class: "muted small" }, this.numbers ? "Predictions of all rows, corrected by the questions that measure: right even where the model is not." : "How many predictions are right, by the questions that measure."),
      this.numbers && (shared.record.settings.ask?.exams ?? "error") === "error" ? el("p", { class: "muted small" }, "Here they measure how far predictions are off, so a mean is the model’s alone, without an interval. A new campaign can have it measured: “Measuring questions are about”.") : null,
      form, this.place);
    this.element.hidden = this.labels.kind === "order" && !(shared.record.rows > 1); // no table
  }

  /** Rows can be told apart by these columns. */
  offer(columns) {
    const names = columns.filter(Boolean);
    if (names.join("\n") === this.names) return;
    this.names = names.join("\n");
    show(this.groups, el("option", { value: "" }, "all rows together"), ...names.map((name) => el("option", { value: name }, name)));
    this.groups.value = this.by = names.includes(this.by) ? this.by : "";
    this.grouped.hidden = !names.length;
  }

  async refresh() {
    const of = this.of === "share above" ? `share above ${this.above.trim()}` : this.of;
    const by = this.by ? `&by=${encodeURIComponent(this.by)}` : "";
    try {
      show(this.place, this.#draw(await get(`${this.shared.root}/estimate?what=${encodeURIComponent(of)}${by}`)));
    } catch (error) {
      show(this.place, bad(words(error)));
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
      el("td", number, one.labels === null ? "–" : count(Math.round(one.labels)))))));
  }
}
