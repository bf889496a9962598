// What a campaign may give: simulated with made-up answers.

import { post } from "../shared/api.js";
import { drawCurve, tableOfCurve } from "../charts/learning-curve.js";
import { el, show } from "../shared/dom.js";
import { Figure } from "../charts/chart.js";
import { action, attempt, field, numeral } from "../shared/fields.js";
import { hours, money, number, percent, rounded } from "../shared/format.js";

const PATIENCE = 180_000; // milliseconds: a few campaigns are simulated

export function forecastStep(draft) {
  const { ask } = draft.settings;
  let answers = ask.budget ?? 1000;
  let flip = draft.settings.learner.flip || 0.05;
  const results = el("div", { class: "tiles" });
  const message = el("div", { "aria-live": "polite" });
  const chart = new Figure({
    title: "Expected learning curve",
    note: "Simulated with the real learner on your rows, for a made-up truth: the order of magnitude, not a promise.",
    draw: drawCurve, table: tableOfCurve, toggles: [{ name: "log", text: "logarithmic" }],
    empty: "Press “Simulate” to see how the error may fall with the number of answers.",
  });
  chart.update(null);

  const run = () => attempt(form, message, async () => {
    show(message, el("p", { class: "line muted" }, el("span", { class: "spinner" }), "Simulating your campaign with made-up answers …"));
    try {
      draw(await post(draft.path("forecast"), { settings: draft.settings, answers, flip }, { patience: PATIENCE }));
    } finally {
      show(message);
    }
  });

  function draw({ points, measure, cost, times = 1 }) {
    const unit = draft.settings.labels.unit ?? "";
    const name = unit && measure.endsWith(` in ${unit}`) ? measure.slice(0, -` in ${unit}`.length) : measure;
    const shown = unit && name !== measure ? unit : "";
    chart.update({ measure: name, unit: shown, points: points.map(([n, low, value, high]) => ({ n, low, value, high })) });
    const [, , last] = points.at(-1) ?? [];
    const written = /share|right|agree/.test(measure) ? percent(last) : `${rounded(last)} ${shown}`.trim();
    show(results,
      tile("Expected at the end", written, measure),
      times > 1 ? tile("Privacy", `ε = ${number(draft.settings.privacy.epsilon)} costs ${number(times, 1)} times the answers`, "of a campaign that is not private") : null,
      tile("Hours of work", hours(cost?.hours), `at ${number(ask.seconds)} s per answer`),
      cost?.price === null || cost?.price === undefined ? null : tile("Cost", money(cost.price, cost.currency), "at your price per answer"));
  }

  const form = el("div", { class: "fields" },
    field({ label: "Answers", path: "answers" }, numeral(answers, (value) => { answers = value ?? 0; }, { min: "1", step: "1" })),
    field({ label: "Wrong answers (%)", path: "flip", hint: "How often people slip." }, numeral(100 * flip, (value) => { flip = (value ?? 0) / 100; }, { min: "0", max: "49" })),
    el("div", { class: "field end" }, action("Simulate", run, { class: "button primary" })));
  return el("div", { class: "stack" }, form, message, results, chart.element);
}

const tile = (name, value, note) => el("div", { class: "card tile stat" }, el("span", { class: "name" }, name), el("span", { class: "value" }, value), el("span", { class: "muted small" }, note));
