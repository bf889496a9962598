// Step 5: all on one page, and the settings as a file for the command line.

import { post } from "../shared/api.js";
import { copy } from "../shared/dialogs.js";
import { el, show } from "../shared/dom.js";
import { saveAs } from "../shared/download.js";
import { action, bad, clearErrors, field, fieldOf, showError, text, words } from "../shared/fields.js";
import { count, grouped, hours, money, number, percent, plural, withUnit } from "../shared/format.js";

const list = (names, rest) => (names === null || names === undefined ? rest : names.join(", ") || "nothing");

/** All that will be made, in words. */
function summary({ settings, file }, sentence) {
  const { labels, question, ask, rows } = settings;
  const what = {
    number: () => `${labels.name || "a number"}${labels.low === null || labels.high === null ? "" : ` from ${number(labels.low)} to ${withUnit(number(labels.high), labels.unit)}`}`,
    class: () => `one of ${plural(labels.classes.length, "class", "classes")}: ${labels.classes.slice(0, 12).join(", ")}${labels.classes.length > 12 ? ", …" : ""}`,
    order: () => `an order of ${plural(labels.items.length, "item")}`,
  }[labels.kind]();
  const much = [ask.budget ? plural(ask.budget, "answer") : "until all rows are asked", ask.per_row > 1 ? `${ask.until === "known" ? "up to " : ""}${count(ask.per_row)} questions per row` : null, ask.overlap === "auto" ? "second opinions where they tell most" : ask.overlap > 1 ? `${count(ask.overlap)} people per question` : null,
    ask.per_person ? `at most ${count(ask.per_person)} per person` : null, ask.target ? `stops below an error of ${number(ask.target)}` : null].filter(Boolean);
  const measured = [`${percent(ask.exam_share)} of questions measure the model`, ask.gold_share ? `${percent(ask.gold_share)} measure people` : null, ask.training ? `${count(ask.training)} to practise on` : null].filter(Boolean);
  const people = ask.overlap === "auto" ? 1 : ask.overlap;
  const most = ask.budget ?? (file ? file.rows * ask.per_row * people : null);
  const cost = most === null ? ["as long as people answer"] : [`about ${hours((most * ask.seconds) / 3600)} of people’s time`, ask.price ? money(most * ask.price, ask.currency) : null].filter(Boolean);
  return [
    ["Title", settings.title || "none yet"],
    ["Rows", file ? `${plural(file.rows, "row")} of ${file.name}, ${rows.key ? `named by ${rows.key}` : "numbered"}` : "none: items are compared"],
    ["Learns", what],
    ["Question", question.wording || (sentence ? `such as “${labels.kind === "number" ? grouped(sentence) : sentence}”` : "a sentence that is made for you")],
    ...(file ? [["People see", list(rows.show, "all columns but a key")], ["The model sees", list(rows.learn, "all columns but the key")]] : []),
    ["Asks", much.join(", ")], ["Measures", measured.join(", ")], ["Costs", cost.join(", ")],
    ["Guidelines", question.instructions.trim() ? el("span", { class: "as-written" }, `${question.instructions.trim().slice(0, 240)}${question.instructions.trim().length > 240 ? "…" : ""}`) : "none"],
  ];
}

export function createStep(draft, { goTo, example, foot }) {
  const { settings, file } = draft;
  const message = el("div");
  const code = el("code", {}, draft.toml || "…");
  draft.ontoml = () => { code.textContent = draft.toml; };
  const facts = summary(draft, example());
  const form = el("div", { class: "stack" },
    el("dl", { class: "facts card flat" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    field({ label: "Name in addresses (optional)", path: "name", hint: "Small letters, digits and hyphens. Made from the title where empty." }, text(draft.name, (value) => { draft.name = value.trim(); draft.keep(); }, { placeholder: draft.settings.title.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "").replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "flats", spellcheck: "false", maxlength: "60" })));

  async function create() {
    clearErrors(form);
    show(message, el("p", { class: "line muted", role: "status" }, el("span", { class: "spinner" }), "Reading all rows and preparing the model …"));
    try {
      const body = { settings, upload: file?.upload ?? null };
      if (draft.name) body.name = draft.name;
      const made = await post("/campaigns", body, { patience: 600_000 });
      draft.forget();
      location.assign(`/manage/${encodeURIComponent(made.name)}?made=1`);
    } catch (error) {
      show(message);
      if (showError(form, fieldOf(error), words(error))) return;
      const step = goTo.owner(error.argument);
      show(message, bad(words(error)), step ? el("p", {}, el("button", { type: "button", class: "button", onclick: () => goTo(step, error) }, "Mend it")) : null);
    }
  }

  foot(action("Create campaign", create, { class: "button primary" }));
  return el("div", { class: "stack" }, form, message,
    el("details", { class: "card flat" }, el("summary", {}, "These settings as a file (TOML)"),
      el("div", { class: "stack" },
        el("p", { class: "muted small" }, "The same campaign from the command line: askone new campaign.toml (add your table as file under [rows])."),
        el("pre", { tabindex: "0", "aria-label": "Settings as TOML" }, code),
        el("div", { class: "line" },
          el("button", { type: "button", class: "button small", onclick: () => copy(draft.toml) }, "Copy"),
          el("button", { type: "button", class: "button small", onclick: () => saveAs(draft.toml, "application/toml", "campaign.toml") }, "Download")))));
}
