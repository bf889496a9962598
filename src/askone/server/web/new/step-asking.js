// Step 4: how much is asked, of whom, in which order, what it costs, and what it should give.

import { el } from "../shared/dom.js";
import { choice, field, numeral, peoplePerQuestion, text } from "../shared/fields.js";
import { hours, money, plural } from "../shared/format.js";
import { UNTIL } from "../shared/setting-names.js";
import { forecastStep } from "./step-forecast.js";

export function askingStep(draft) {
  const { ask, labels, learner } = draft.settings;
  draft.settings.privacy ??= { epsilon: null, budget: null }; // a draft of before
  const { privacy } = draft.settings;
  const sum = el("p", { class: "notice", "aria-live": "polite" });
  const say = () => {
    const parts = [ask.budget ? plural(ask.budget, "answer") : draft.file ? `Until all ${plural(draft.file.rows, "row")} are asked` : "Until you stop it"];
    if (ask.budget && ask.seconds) parts.push(`about ${hours((ask.budget * ask.seconds) / 3600)} of work`);
    if (ask.budget && ask.price) parts.push(money(ask.budget * ask.price, ask.currency));
    sum.textContent = `${parts.join(" · ")}.`;
  };
  const set = (table, name) => (value) => {
    table[name] = value;
    say();
    draft.changed();
  };
  const share = (label, hint, table, name, path) =>
    field({ label, hint, path }, numeral(table[name] === null ? null : Number((100 * table[name]).toPrecision(6)), (value) => set(table, name)(value === null ? 0 : value / 100), { min: "0", max: "100", step: "any" }));
  const whole = (label, hint, name, least = "1") => field({ label, hint, path: `ask.${name}` }, numeral(ask[name], set(ask, name), { min: least, step: "1", inputmode: "numeric" }));
  say();
  return el("div", { class: "stack" },
    group("How much",
      whole("Budget in answers", "Empty: until all rows are asked, or you stop it.", "budget"),
      field({ label: `Stop below this error${labels.unit ? ` (${labels.unit})` : labels.kind === "number" ? "" : " (share)"}`, path: "ask.target", hint: "Of the measured error. Empty: the budget decides." }, numeral(ask.target, set(ask, "target"), { min: "0" })),
      whole("Most per person", "Empty: no limit.", "per_person")),
    el("details", { class: "card flat more-settings" }, el("summary", {}, "More: rows again, quality, privacy, order, cost. All of it may stay as it is."),
      el("div", { class: "stack" },
        group("Rows that are asked again",
          whole("Questions per row", "More than one: small tables go on when every row was asked.", "per_row"),
          field({ label: "Ask a row again", path: "ask.until", hint: "Until it is known: at most as often as “Questions per row” says." }, choice(ask.until, UNTIL, set(ask, "until"))),
          share("Known within (%)", "Of a number, its deviation as a share of the range; of a class, the chance that it is another.", ask, "tolerance", "ask.tolerance")),
        group("Quality",
          field({ label: "People per question", path: "ask.overlap", hint: "More than one costs that many times as much; auto: one, and others where their opinion tells most." }, peoplePerQuestion(ask.overlap, set(ask, "overlap"))),
          share("Measuring questions (%)", "Random questions from which the learning curve is drawn. 15 % is a good share.", ask, "exam_share", "ask.exam_share"),
          labels.kind === "number" ? field({ label: "Measuring questions are about", path: "ask.exams", hint: "The mean of the table takes more answers, and measures the error less exactly." }, choice(ask.exams, [["error", "The error of the model"], ["mean", "The mean of the table"], ["both", "Both, by turns"]], set(ask, "exams"))) : null,
          share("Gold questions (%)", draft.settings.rows.gold ? "Rows with a known answer, to see how people do." : "Needs a column with known answers.", ask, "gold_share", "ask.gold_share"),
          whole("Practice questions", draft.settings.rows.gold ? "With known answers, before the first real one." : "Needs a column with known answers.", "training", "0"),
          share("Expected slips (%)", "The model allows for this share of slips.", learner, "flip", "learner.flip")),
        group("Privacy",
          field({ label: "Private answers (ε)", path: "privacy.epsilon", hint: "Answers are flipped with 1/(1 + e^ε) before they are sent: ε = 1 costs 4.7 times the answers, 3 costs 1.2 times. Empty: they are sent as they are." }, numeral(privacy.epsilon, set(privacy, "epsilon"), { min: "0.1", max: "30", step: "any" })),
          field({ label: "Privacy of one person", path: "privacy.budget", hint: "Each answer costs ε; beyond this nothing more is asked. Empty: no limit." }, numeral(privacy.budget, set(privacy, "budget"), { min: "0", step: "any" }))),
        group("Order and cost",
          field({ label: "Order of the rows", path: "ask.order", hint: "Those that help most need far fewer answers. In file order is for live streams: of a sorted file the first rows alone are learnt." }, choice(ask.order, [["auto", "Those that help most"], ["random", "Random"], ["file", "In file order"]], set(ask, "order"))),
          field({ label: "Seconds per answer", path: "ask.seconds", hint: "For the forecast of hours." }, numeral(ask.seconds, set(ask, "seconds"), { min: "0.1" })),
          field({ label: "Price per answer", path: "ask.price", hint: "Empty: not counted." }, numeral(ask.price, set(ask, "price"), { min: "0" })),
          field({ label: "Currency", path: "ask.currency" }, text(ask.currency, set(ask, "currency"), { placeholder: "EUR", maxlength: "8" }))))),
    sum,
    el("details", { class: "card flat forecast" }, el("summary", {}, "What will it give? Simulate it."), forecastStep(draft)));
}

const group = (title, ...fields) => el("fieldset", { class: "stack" }, el("legend", { class: "group-title" }, title), el("div", { class: "fields" }, fields));
