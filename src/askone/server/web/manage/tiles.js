// The numbers at the top of the dashboard.

import { interval, writer } from "../charts/learning-curve.js";
import { el } from "../shared/dom.js";
import { show } from "../shared/elements.js";
import { oneSided } from "./warnings.js";
import { bar } from "./page.js";
import { count, hours, money, number, plural } from "../shared/format.js";

function tile(name, value, note, extra = null) {
  return el("div", { class: "card tile stat" }, el("dt", { class: "name" }, name), el("dd", { class: "value" }, value), el("dd", { class: "muted small" }, note || "\u00a0"), extra ? el("dd", {}, extra) : null);
}

function errorTile({ measure, unit, latest, waiting }, said) {
  if (!latest) return tile("Measured now", "–", waiting ? `${count(waiting.have)} of ${count(waiting.need)} measuring questions answered` : "needs a few measuring questions");
  const write = writer(measure, unit);
  return tile(`${measure[0].toUpperCase()}${measure.slice(1)} now`, write(latest.value), oneSided(said) ? "not to be trusted: all answers are alike" : interval(latest.low, latest.high, measure, unit));
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
    rows?.rows > 1 ? tile("Rows asked", count(rows.asked), `of ${count(rows.rows)}`, bar(rows.asked / rows.rows, `${Math.round((100 * rows.asked) / rows.rows)} % asked`)) : null,
    tile("People active", count(data.people_active), data.people_active ? waiting(answers, stale) : ""));
}

/** With several people at work every question is some answers old when it is answered: that is how it should be. */
function waiting(answers, stale) {
  if (!stale?.count || !answers) return "";
  return `${number((stale.count * stale.mean) / answers, 2)} answers come while a question waits`;
}
