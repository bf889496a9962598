// What a manager should know before believing the numbers, each in a sentence.

import { el } from "../shared/dom.js";
import { show } from "../shared/elements.js";
import { count, number, withUnit } from "../shared/format.js";

const FEW = 30; // answers: fewer may be alike by chance

/** "yes" or "no" where nobody ever said the other, else null. */
export function oneSided({ yes = 0, no = 0 } = {}) {
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
  rows: "Every row has been asked. Add rows under Settings to go on.",
};

export function drawNotes(place, { finished, said }, settings) {
  const side = oneSided(said);
  const words = settings.question?.answers ?? ["yes", "no"];
  show(place,
    side ? el("p", { class: "notice warn" }, settings.labels.kind === "order"
      ? `In all ${count(said[side])} answers the ${side === "yes" ? "first" : "second"} item was chosen, so what is measured cannot be trusted yet. ${doubt(side, settings)}`
      : `All ${count(said[side])} answers so far are “${words[side === "yes" ? 0 : 1]}”, so what is measured cannot be trusted yet. ${doubt(side, settings)}`) : null,
    finished ? el("p", { class: "notice" }, `${ENDS[finished] ?? ""} The results are under `, el("a", { href: "#export" }, "Export"), ".") : null);
}
