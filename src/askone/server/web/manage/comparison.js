// What another model would have had: learnt anew from the stored answers, and held to each before it learns it.

import { get } from "../shared/api.js";
import { dataTable, el, show } from "../shared/dom.js";
import { bad, words } from "../shared/fields.js";
import { count, rounded } from "../shared/format.js";

const PATIENCE = 660_000; // milliseconds: longer than the server's own limit
const BITS = "bits per answer";

export class ModelComparison {
  constructor(shared) {
    this.path = `${shared.root}/comparison`;
    this.under = null; // what ends the request that is on its way
    this.place = el("div", { class: "stack", "aria-live": "polite" });
    this.button = el("button", { type: "button", class: "button", onclick: () => this.#press() }, "Compare models");
    this.element = el("section", { class: "card stack comparison" }, el("h2", {}, "What another model would have had"),
      el("p", { class: "muted small" }, "Other models learn from the same answers, in their order, and each forecasts an answer before it learns it. Nobody is asked for that, and nobody who answers waits for it."),
      el("p", {}, this.button), this.place);
  }

  /** Ends what is on its way: nobody looks any more. */
  leave() {
    this.under?.abort();
  }

  async #press() {
    if (this.under) {
      this.leave();
      return;
    }
    this.under = new AbortController();
    const { signal } = this.under;
    this.button.textContent = "Stop";
    show(this.place, el("p", { class: "line muted" }, el("span", { class: "spinner" }), "Learning the answers anew, model by model …"));
    try {
      show(this.place, ...drawComparison(await get(this.path, { patience: PATIENCE, signal })));
    } catch (error) {
      show(this.place, signal.aborted ? null : bad(words(error)));
    } finally {
      this.under = null;
      this.button.textContent = "Compare models";
    }
  }
}

/** The verdict, and a table for each measure: models that do not forecast are held to their error. */
function drawComparison({ verdict, models, answers }) {
  const measures = [...new Set(models.map((one) => one.measure))];
  return [
    el("p", { class: "strong" }, verdict),
    ...measures.map((measure) => drawMeasure(models.filter((one) => one.measure === measure))),
    models.length ? el("p", { class: "muted small" }, `As of ${count(answers)} answers. Behind ± stands the standard error. Below zero a model is better than the present one; a difference of less than three errors may be chance. The questions are those that the present model chose; another one would have chosen others.`) : null,
  ];
}

function drawMeasure(models) {
  const [{ measure, unit, answers }] = models;
  const name = measure === BITS ? "Bits per answer" : `${measure[0].toUpperCase()}${measure.slice(1)}${unit ? ` in ${unit}` : ""}`;
  const number = { class: "number" };
  return dataTable(`Models by ${measure}`, ["Model", [name, number], ["Against the present one", number]], models.map((one, i) => el("tr", {},
    el("th", { scope: "row" }, one.name),
    el("td", number, ...within(one.value, one.error)),
    el("td", number, ...(i ? within(Math.abs(one.difference), one.difference_error, one.difference > 0 ? "+" : "−") : ["–"])))),
  { caption: measure === BITS ? null : el("caption", {}, `By ${count(answers)} questions that measure`) });
}

/** A number and its standard error, which stands below where there is little room. */
const within = (value, error, sign = "") => [
  el("span", { class: "nowrap" }, `${sign}${rounded(value, 3)}`), " ", el("span", { class: "nowrap muted" }, `± ${rounded(error, 2)}`)];
