// Step 2: what each column is for: shown to people, learnt from, the row's name, the known answer.

import { el } from "../shared/dom.js";
import { choice, field } from "../shared/fields.js";
import { plural } from "../shared/format.js";

// A key that only tells rows apart is not shown unless it is chosen: see shown_columns in settings/suggest.py.
const IDENTIFIER = /^(id|key|uuid|guid|index|nr|no\.?|#|row)$|[_ -]id$/i;
const CAMEL = /[a-z]I[dD]$/;
const FIGURES = new Set(["number", "amount", "category", "date", "text", "image", "vector"]);

export function columnsStep(draft) {
  if (!draft.file)
    return el("div", { class: "card flat empty" }, el("p", {}, "A ranking without a table has no columns: go on to the items."));
  const { rows } = draft.settings;
  const names = draft.file.columns.map((column) => column.name);
  const vectors = new Set(draft.file.columns.filter((column) => column.kind === "vector").map((column) => column.name));
  const telling = (name) => !vectors.has(name) && (name !== rows.key || !(IDENTIFIER.test(name) || CAMEL.test(name))); // nobody reads vectors
  const used = (kind) => rows[kind] ?? names.filter((name) => name !== rows.gold && (kind === "show" ? telling(name) : name !== rows.key));

  function turn(kind, name, on) {
    const now = new Set(used(kind));
    if (on) now.add(name);
    else now.delete(name);
    rows[kind] = names.filter((one) => now.has(one));
    draft.changed();
  }

  const box = (kind, name, words, disabled = false) =>
    el("label", { class: "cell-check" }, el("input", { type: "checkbox", checked: used(kind).includes(name) && !disabled, disabled, "aria-label": `${words} ${name}`, onchange: (event) => turn(kind, name, event.target.checked) }));

  const line = (column) =>
    el("tr", {},
      el("th", { scope: "row" }, el("span", { class: "strong" }, column.name), el("br"), el("span", { class: "badge" }, column.kind)),
      el("td", {}, box("show", column.name, "Show", vectors.has(column.name))),
      el("td", {}, box("learn", column.name, "Learn from", !FIGURES.has(column.kind))),
      el("td", { class: "examples muted" }, examples(column)));

  const pick = (kind, value) => {
    // What is no longer known answers is a column like the others.
    for (const list of kind === "gold" && rows.gold ? ["show", "learn"] : [])
      if (rows[list]) rows[list] = names.filter((name) => rows[list].includes(name) || name === rows.gold);
    rows[kind] = value || null;
    if (value && rows.learn) rows.learn = rows.learn.filter((name) => name !== value);
    // With a share of 0 known answers would measure nobody.
    if (kind === "gold") draft.settings.ask.gold_share = value ? draft.settings.ask.gold_share || 0.05 : 0;
    if (value && kind === "gold" && rows.show) rows.show = rows.show.filter((name) => name !== value);
    draft.changed();
    table.replaceChildren(...draft.file.columns.map(line));
  };
  const guess = (kind) => (rows[kind] && rows[kind] === draft.file.guessed?.[kind] ? " Guessed from the column's name and cells." : "");
  const others = (draft.file.parts ?? []).filter((name) => name !== draft.file.part);
  const options = (none) => [["", none], ...names.filter((name) => !vectors.has(name)).map((name) => [name, name])];
  const table = el("tbody", {}, draft.file.columns.map(line));
  return el("div", { class: "stack" },
    el("p", { class: "muted" }, `${draft.file.name}: ${plural(draft.file.rows, "row")}.${others.length ? ` They are from “${draft.file.part}”; not read: ${others.join(", ")}.` : ""}`),
    el("div", { class: "table-scroll", dataset: { path: "rows" } },
      el("table", {}, el("thead", {}, el("tr", {}, ["Column", "Show", "Learn from", "Examples"].map((name) => el("th", { scope: "col" }, name)))), table),
      el("span", { class: "error", role: "alert" })),
    el("div", { class: "fields" },
      field({ label: "Row names", path: "rows.key", hint: `A column with a different value in every row; else rows are numbered.${guess("key")}` }, choice(rows.key, options("numbered"), (value) => pick("key", value))),
      field({ label: "Known answers", path: "rows.gold", hint: `Labels of some rows, for gold questions. Never shown to people.${guess("gold")}` }, choice(rows.gold, options("none"), (value) => pick("gold", value)))));
}

function examples({ kind, examples: values = [] }) {
  if (kind === "image") return "pictures";
  return values.slice(0, 3).map((value) => shorten(String(value ?? "empty"))).join(" · ");
}

const shorten = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);
