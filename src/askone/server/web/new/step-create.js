// Step 7: all on one page, and the settings as a file for the command line.

import { post } from "../shared/api.js";
import { copy } from "../shared/dialogs.js";
import { el, show } from "../shared/dom.js";
import { saveAs } from "../shared/download.js";
import { action, bad, clearErrors, field, fieldOf, showError, text, words } from "../shared/fields.js";
import { plural } from "../shared/format.js";

const KIND = { number: "a number", class: "a class", order: "an order of items" };

export function createStep(draft, { goTo }) {
  const { settings, file } = draft;
  const message = el("div");
  const code = el("code", {}, draft.toml || "…");
  draft.ontoml = () => { code.textContent = draft.toml; };
  const facts = [
    ["Title", settings.title || "none yet"],
    ["Rows", file ? `${plural(file.rows, "row")} of ${file.name}` : "none: items are compared"],
    ["Learns", KIND[settings.labels.kind]],
    ["Budget", settings.ask.budget ? plural(settings.ask.budget, "answer") : "no limit"],
  ];
  const form = el("div", { class: "stack" },
    el("dl", { class: "facts card flat" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    field({ label: "Name in addresses (optional)", path: "name", hint: "Small letters, digits and hyphens. Made from the title where empty." }, text(draft.name, (value) => { draft.name = value.trim(); draft.keep(); }, { placeholder: "flats", spellcheck: "false", maxlength: "60" })));

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

  return el("div", { class: "stack" }, form,
    el("div", { class: "line" }, action("Create campaign", create, { class: "button primary" })), message,
    el("details", { class: "card flat" }, el("summary", {}, "These settings as a file (TOML)"),
      el("div", { class: "stack" },
        el("p", { class: "muted small" }, "The same campaign from the command line: askone new campaign.toml (add your table as file under [rows])."),
        el("pre", { tabindex: "0", "aria-label": "Settings as TOML" }, code),
        el("div", { class: "line" },
          el("button", { type: "button", class: "button small", onclick: () => copy(draft.toml) }, "Copy"),
          el("button", { type: "button", class: "button small", onclick: () => saveAs(draft.toml, "application/toml", "campaign.toml") }, "Download")))));
}
