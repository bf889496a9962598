// The live dashboard.

import { drawBars, tableOfBars } from "../charts/answer-bars.js";
import { drawCloud, tableOfCloud } from "../charts/question-cloud.js";
import { drawCurve, heightOfCurve, tableOfCurve } from "../charts/learning-curve.js";
import { el, show } from "../shared/dom.js";
import { Figure } from "../charts/chart.js";
import { choice } from "../shared/fields.js";
import { Estimates } from "./estimates.js";
import { ModelComparison } from "./comparison.js";
import { Predictions } from "./predictions.js";
import { drawModels } from "./models.js";
import { drawNotes, drawTiles } from "./tiles.js";

const MANY = 33; // classes: their cloud is higher than a curve can be

const CLOUD_NOTES = {
  threshold: "Every threshold that was asked, and its answer; fainter marks are older. Line or small dots: what the model predicts now.",
  set: "The latest questions, one column each: the marked classes were in the set.",
  pair: "How often each item was chosen over each other one; darker squares: a clearer winner. Items stand in the order that the model predicts, the best at the top.",
};

/** What the curve is measured on, and what its band holds. */
function measured({ settings: { labels }, rows }) {
  if (labels.kind === "order" && !(rows > 1)) return "Measured on pairs drawn by lot, whose answers the model had not seen; the band holds the share of pairs that it has in the right order in 95 of 100 campaigns.";
  return `Measured on rows drawn from the whole table, whose answers the model had not seen; the band holds the ${labels.kind === "number" ? "mean error" : "share that is right"} over its rows in 95 of 100 campaigns.`;
}

export class Overview {
  constructor(shared) {
    this.shared = shared;
    const { labels, question } = shared.record.settings;
    const number = labels.kind === "number";
    this.facts = { unit: labels.unit ?? "", classes: labels.classes, items: labels.items, words: question?.answers ?? ["yes", "no"] };
    this.column = "";
    this.last = null;
    this.notes = el("div", { class: "stack", "aria-live": "polite" });
    this.tiles = el("dl", { class: "tiles", "aria-label": "Numbers now" });
    this.columns = el("span", { hidden: true });
    this.cloud = new Figure({ title: "Cloud of questions", draw: drawCloud, table: tableOfCloud, extra: this.columns, by: "both", empty: "Each question that is answered becomes a mark here." });
    this.curve = new Figure({
      title: "Learning curve", note: `${measured(shared.record)} Slips are corrected for, as far as they are known${number ? "; what is said of larger errors comes from questions far from the predictions." : "."}`,
      draw: drawCurve, least: heightOfCurve, table: tableOfCurve, toggles: [{ name: "log", text: "logarithmic" }],
      empty: "The curve begins after ten measuring questions, which come among the others: some 70 answers where 15 % measure.",
    });
    this.activity = new Figure({ title: "Activity", draw: drawBars, table: tableOfBars, empty: "Answers per minute, once people answer." });
    this.models = el("section", { class: "card stack models", hidden: true });
    this.comparison = new ModelComparison(shared);
    this.estimates = new Estimates(shared);
    this.predictions = new Predictions(shared, (columns) => this.estimates.offer(columns));
  }

  path() {
    const column = this.column ? `?column=${encodeURIComponent(this.column)}` : "";
    return `${this.shared.root}/dashboard${column}`;
  }

  open(panel) {
    show(panel, el("div", { class: "stack" }, this.notes, this.tiles,
      el("div", { class: "halves" }, ...this.#charts()),
      this.models, this.comparison.element, this.predictions.element, this.estimates.element));
    this.predictions.refresh();
    return () => this.comparison.leave();
  }

  /** Two columns of one height: the curve grows to that of the cloud, and the activity stands below both. */
  #charts() {
    return (this.facts.classes?.length ?? 0) <= MANY
      ? [this.curve.element, this.cloud.element, this.activity.element]
      : [el("div", { class: "stack" }, this.curve.element, this.activity.element), this.cloud.element];
  }

  /** Draws what has changed. */
  update(data) {
    if (data === this.last) return;
    this.last = data;
    drawTiles(this.tiles, data);
    drawNotes(this.notes, data, this.shared.record.settings);
    const { curve, cloud } = data;
    const far = Math.max(data.budget ?? 0, 2 * data.answers);
    const ahead = (data.forecast?.points ?? []).filter(([n]) => n <= far).map(([n, low, value, high]) => ({ n, low, value, high }));
    this.#drawColumns(cloud);
    this.cloud.update({ ...this.facts, ...cloud }, CLOUD_NOTES[cloud.kind]);
    this.curve.update({ ...curve, unit: curve.unit ?? "", ahead }); // it grows to the height of the cloud
    this.activity.element.hidden = !data.activity.some(([, answers]) => answers > 0);
    this.activity.update(data.activity);
    drawModels(this.models, data.models);
    if (this.tiles.isConnected) this.predictions.learnt(data.answers);
  }

  /** The columns from which the cloud's x axis is chosen. */
  #drawColumns({ columns = [], x }) {
    const key = JSON.stringify(columns);
    if (key === this.known) return;
    this.known = key;
    this.columns.hidden = columns.length < 2;
    const pick = choice(x?.name, columns.map((name) => [name, name]), (value) => {
      this.column = value;
      this.shared.poll.now();
    }, { "aria-label": "Column of the x axis" });
    show(this.columns, el("span", { class: "axis-choice" }, pick));
  }
}
