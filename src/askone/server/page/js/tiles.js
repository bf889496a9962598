// The numbers at the top of the dashboard.

import { interval, writer } from "./curve.js";
import { el } from "./dom.js";
import { show } from "./make.js";
import { bar } from "./start.js";
import { count, hours, money, number, plural } from "./words.js";

function tile(name, value, note, extra = null) {
  return el("div", { class: "card tile stat" }, el("dt", { class: "name" }, name), el("dd", { class: "value" }, value), el("dd", { class: "muted small" }, note || "\u00a0"), extra ? el("dd", {}, extra) : null);
}

function errorTile({ measure, unit, latest, waiting }) {
  if (!latest) return tile("Measured now", "–", waiting ? `${count(waiting.have)} of ${count(waiting.need)} measuring questions answered` : "needs a few measuring questions");
  const write = writer(measure, unit);
  return tile(`${measure[0].toUpperCase()}${measure.slice(1)} now`, write(latest.value), interval(latest.low, latest.high, measure, unit));
}

/** Fills the list of tiles with the dashboard's data. */
export function drawTiles(place, data) {
  const { answers, asked, budget, left, stale, spent, progress_rows: rows } = data;
  const cost = [spent?.hours ? hours(spent.hours) : null, spent?.money ? money(spent.money, spent.currency) : null].filter(Boolean).join(" · ");
  const others = [data.skipped ? `${count(data.skipped)} skipped` : null, data.retracted ? `${count(data.retracted)} taken back` : null].filter(Boolean).join(" · ");
  show(place,
    tile("Answers", count(answers), others || `${plural(asked, "question")} asked`),
    errorTile(data.curve),
    tile("Answers per minute", number(data.rate_per_minute, 2), cost ? `${cost} spent` : ""),
    budget === null || budget === undefined
      ? tile("Budget left", "no limit", "set one in Settings")
      : tile("Budget left", count(left ?? 0), `of ${count(budget)}`, bar(1 - (left ?? 0) / budget, `${Math.round(100 - (100 * (left ?? 0)) / budget)} % used`)),
    tile("People active", count(data.people_active), rows?.rows > 1 ? `${count(rows.asked)} of ${plural(rows.rows, "row")} asked` : ""),
    // With several people at work every question is some answers old when it is answered: that is how it should be.
    tile("Answers in between", number(answers ? ((stale?.count ?? 0) * (stale?.mean ?? 0)) / answers : 0, 2), stale?.count ? `learnt while a question waited, on average; ${count(stale.most)} at most` : "every question knew all answers"));
}
