// The numbers at the top of the dashboard, and what a manager should know before believing them.

import { headline, writer } from "../charts/learning-curve.js";
import { el, show } from "../shared/dom.js";
import { bar } from "./page.js";
import { count, hours, money, number, plural, withUnit } from "../shared/format.js";

const FEW = 30; // answers: fewer may be alike by chance

/** "yes" or "no" where nobody ever said the other, else null. */
function oneSided({ yes = 0, no = 0 } = {}) {
  if (yes + no < FEW || (yes && no)) return null;
  return yes ? "yes" : "no";
}

/** What may be the matter when everybody always says the same. */
function doubt(said, { labels }) {
  const { kind, low, high, unit } = labels;
  if (kind === "order") return "Somebody may be pressing one key.";
  if (kind === "class") return said === "no" ? "A class may be missing, or the question may be misread." : "The question may be misread, or somebody may be pressing one key.";
  const end = said === "yes" ? high : low;
  if (end === null || end === undefined) return "The question may be misread.";
  return `The true values may lie ${said === "yes" ? "above" : "below"} ${withUnit(number(end, 6), unit)}, the end of your range.`;
}

const ENDS = {
  target: "The measured error is below your target, so nobody is asked any more. Resume to go on.",
  budget: "The budget is spent, so nobody is asked any more. Raise it under Settings to go on.",
  rows: "Every row has been asked. Add rows, or raise “Questions per row”, under Settings to go on.",
};

/** Rows in file order: what is measured, and whether the later rows are predicted worse. */
function streamNote({ latest, measure, unit } = {}, drift) {
  if (!latest) return null;
  const write = writer(measure, unit);
  return drift
    ? el("p", { class: "notice warn" }, `The stream drifts: the error is ${write(drift.later)} at later rows and ${write(drift.earlier)} at earlier ones, so rows still to come may be predicted worse than measured.`)
    : el("p", { class: "notice" }, "Rows are asked in file order. What is measured is of rows drawn from all that are there by now; rows still to come may differ.");
}

export function drawNotes(place, { finished, said, curve, drift, anew }, settings) {
  const side = oneSided(said);
  const words = settings.question?.answers ?? ["yes", "no"];
  show(place,
    anew ? el("p", { class: "notice" }, `Answers were left out or changed, so the model is being made anew: ${count(anew.learnt)} of ${count(anew.of)} steps. Until then predictions on this page are by the model from before; exports and estimates wait for the new one.`) : null,
    side ? el("p", { class: "notice warn" }, settings.labels.kind === "order"
      ? `In all ${count(said[side])} answers the ${side === "yes" ? "first" : "second"} item was chosen, so what is measured cannot be trusted yet. ${doubt(side, settings)}`
      : `All ${count(said[side])} answers so far are “${words[side === "yes" ? 0 : 1]}”, so what is measured cannot be trusted yet. ${doubt(side, settings)}`) : null,
    ["file", "stream"].includes(settings.ask?.order) ? streamNote(curve, drift) : null,
    finished ? el("p", { class: "notice" }, `${ENDS[finished] ?? ""} The results are under `, el("a", { href: "#export" }, "Export"), ".") : null);
}

function tile(name, value, note, extra = null) {
  return el("div", { class: "card tile stat" }, el("dt", { class: "name" }, name), el("dd", { class: "value" }, value), el("dd", { class: "muted small" }, note || "\u00a0"), extra ? el("dd", {}, extra) : null);
}

function errorTile({ measure, unit, latest, waiting }, said) {
  if (!latest) return tile("Measured now", "–", waiting ? `${count(waiting.have)} of ${count(waiting.need)} measuring questions answered` : "needs a few measuring questions");
  const [value, band] = headline(latest, measure, unit);
  return tile(`${measure[0].toUpperCase()}${measure.slice(1)} now`, value, oneSided(said) ? "not to be trusted: all answers are alike" : band);
}

/** Fills the list of tiles with the dashboard's data. */
export function drawTiles(place, data) {
  const { answers, asked, budget, left, stale, spent, progress_rows: rows } = data;
  const cost = [spent?.hours ? hours(spent.hours) : null, spent?.money ? money(spent.money, spent.currency) : null].filter(Boolean).join(" · ");
  const others = [data.skipped ? `${count(data.skipped)} skipped` : null, data.retracted ? `${count(data.retracted)} taken back` : null].filter(Boolean).join(" · ");
  show(place,
    tile("Answers", count(answers), others || `${plural(asked, "question")} asked`),
    errorTile(data.curve, data.said),
    tile("Answers per minute", number(data.rate_per_minute, 2), cost ? `${cost} spent` : ""),
    budget === null || budget === undefined
      ? tile("Budget left", "no limit", "set one in Settings")
      : tile("Budget left", count(left ?? 0), `of ${count(budget)}`, bar(1 - (left ?? 0) / budget, `${Math.round(100 - (100 * (left ?? 0)) / budget)} % used`)),
    rows?.rows > 1 ? tile(data.per_row > 1 ? "Questions about rows" : "Rows asked", count(rows.asked), `of ${count(rows.rows)}`, bar(rows.asked / rows.rows, `${Math.round((100 * rows.asked) / rows.rows)} % asked`)) : null,
    tile("People active", count(data.people_active), data.people_active > 1 ? waiting(answers, stale) : ""));
}

/** With several people at work every question is some answers old when it is answered: that is how it should be. */
function waiting(answers, stale) {
  const others = stale?.count && answers ? Math.round((stale.count * stale.mean) / answers) : 0;
  return others ? `while one thinks, others give ${plural(others, "answer")}` : "";
}
