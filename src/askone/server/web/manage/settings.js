// Changing a campaign that runs: its status, its budget, more rows, who is told, and its end.

import { del, patch, post, upload } from "../shared/api.js";
import { confirm, copy } from "../shared/dialogs.js";
import { el, toast } from "../shared/dom.js";
import { saveAs } from "../shared/download.js";
import { action, bad, clearErrors, field, numeral, showError, words } from "../shared/fields.js";
import { show } from "../shared/elements.js";
import { webhooks } from "./webhooks.js";
import { plural } from "../shared/format.js";

const END_WORDS = {
  target: "The target is reached: nobody is asked. Resume to go on all the same.",
  budget: "The budget is spent: nobody is asked. Raise it below to go on.",
  rows: "Every row has been asked. Add rows below to go on.",
};
const STATE_WORDS = {
  running: "People are being asked.",
  paused: "Nobody is asked; people see a note and wait.",
  closed: "Nobody is asked any more.",
};

function status(shared) {
  const place = el("div", { class: "stack" });
  const draw = () => show(place,
    el("p", { class: "muted" }, END_WORDS[shared.finished] ?? STATE_WORDS[shared.status] ?? shared.status),
    el("div", { class: "line" },
      shared.status === "running" ? action("Pause", () => shared.turn("paused")) : action(shared.status === "closed" ? "Open again" : "Resume", () => shared.turn("running"), { class: "button primary" }),
      shared.status === "closed" ? null : el("button", { type: "button", class: "button danger", onclick: () => shared.close() }, "Close")));
  shared.listeners.push(draw);
  draw();
  return section("Status", place);
}

function budget(shared) {
  let wish = shared.record.budget ?? null;
  const place = el("div", { "aria-live": "polite" });
  const form = el("div", { class: "fields" },
    field({ label: "Answers in all", path: "budget", hint: "Empty: no limit." }, numeral(wish, (value) => { wish = value; }, { min: "1", step: "1" })),
    el("div", { class: "field end" }, action("Save", async () => {
      clearErrors(form);
      show(place);
      try {
        await patch(shared.root, { budget: wish });
        shared.record.budget = wish;
        toast("Budget saved");
        shared.poll.now();
      } catch (error) {
        if (!showError(form, error.argument, words(error))) show(place, bad(words(error)));
      }
    })));
  return section("Budget", form, place);
}

function moreRows(shared) {
  const message = el("div", { "aria-live": "polite" });
  const file = el("input", { type: "file", accept: ".csv,.tsv,.txt,.jsonl,.ndjson,.json,.parquet,.zip", id: "rows-file", class: "visually-hidden", onchange: () => file.files[0] && add(file.files[0]) });
  async function add(chosen) {
    show(message, el("p", { class: "muted" }, `Reading ${chosen.name} …`));
    try {
      const table = await upload("/uploads", chosen);
      const made = await post(`${shared.root}/rows`, { upload: table.upload }, { patience: 600_000 });
      show(message, el("p", { class: "notice good" }, `${plural(made.added, "row")} added; they are asked about from now on.`));
      shared.poll.now();
    } catch (error) {
      show(message, bad(words(error)));
    } finally {
      file.value = "";
    }
  }
  return section("More rows", el("p", { class: "muted" }, "A table with the same columns. The campaign goes on while it is read."), el("div", {}, file, el("label", { for: "rows-file", class: "button" }, "Choose a file")), message);
}

function settingsFile(shared) {
  const { toml = "", name } = shared.record;
  return section("Settings as a file",
    el("pre", { tabindex: "0", "aria-label": "Settings as TOML" }, el("code", {}, toml)),
    el("div", { class: "line" },
      el("button", { type: "button", class: "button small", onclick: () => copy(toml) }, "Copy"),
      el("button", { type: "button", class: "button small", onclick: () => saveAs(toml, "application/toml", `${name}.toml`) }, "Download"),
      el("a", { class: "button small", href: `/manage/new?like=${encodeURIComponent(name)}` }, "New campaign like this")));
}

function ending(shared) {
  const remove = () => confirm({
    title: "Delete this campaign?", button: "Delete for ever", danger: true, typed: shared.name,
    say: ["Rows, answers, log and model are deleted. This cannot be undone.", "Download a backup first if you may need it again."],
    run: async () => {
      await del(shared.root);
      location.assign("/manage");
    },
  });
  return section("Delete", el("p", { class: "muted" }, "Deletes the campaign and its whole log."), el("div", {}, el("button", { type: "button", class: "button danger", onclick: remove }, "Delete campaign")));
}

const section = (title, ...content) => el("section", { class: "card stack" }, el("h2", {}, title), ...content);

export function tuningTab(panel, shared) {
  shared.listeners.length = 0;
  show(panel, el("div", { class: "halves" },
    el("div", { class: "stack" }, status(shared), budget(shared), moreRows(shared), ending(shared)),
    el("div", { class: "stack" }, settingsFile(shared), webhooks(shared))));
}
