// Where several models learn: who leads, by how well each forecast answers.

import { dataTable, el, show } from "../shared/dom.js";
import { percent } from "../shared/format.js";
import { bar } from "./page.js";

const capital = (name) => name[0].toUpperCase() + name.slice(1);

export function drawModels(place, models) {
  place.hidden = !models?.length;
  if (place.hidden) return;
  const [leader] = models;
  show(place, el("h2", {}, "Which model leads"),
    el("p", { class: "muted small" }, `Several models learn from the same answers, and what is predicted is their weighted mean. A model earns its share by how well it forecasts answers before it learns them. Just now “${capital(leader.name)}” leads.`),
    dataTable("Models", ["Model", "Share of the prediction"], models.map((one) => el("tr", {},
      el("th", { scope: "row" }, capital(one.name)),
      el("td", {}, el("span", { class: "share-cell" }, bar(one.share, percent(one.share)), el("span", { class: "small muted number" }, percent(one.share))))))));
}
