// Changing a campaign that runs: its status, its budget, more rows, who is told, and its end.

import { del, patch, post, upload } from "../shared/api.js";
import { confirm, copy, copyable } from "../shared/dialogs.js";
import { el, show, toast } from "../shared/dom.js";
import { saveAs } from "../shared/download.js";
import { action, attempt, check, chooser, field, fill, numeral, TABLES, text } from "../shared/fields.js";
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
    el("div", { class: "field end" }, action("Save", () => attempt(form, place, async () => {
      show(place);
      await patch(shared.root, { budget: wish });
      shared.record.budget = wish;
      toast("Budget saved");
      shared.poll.now();
    }))));
  return section("Budget", form, place);
}

function moreRows(shared) {
  const message = el("div", { "aria-live": "polite" });
  const file = chooser("rows-file", TABLES, message, async (chosen) => {
    show(message, el("p", { class: "muted" }, `Reading ${chosen.name} …`));
    const table = await upload("/uploads", chosen);
    const made = await post(`${shared.root}/rows`, { upload: table.upload }, { patience: 600_000 });
    show(message, el("p", { class: "notice good" }, `${plural(made.added, "row")} added; they are asked about from now on.`));
    shared.poll.now();
  });
  return section("More rows", el("p", { class: "muted" }, "A table with the same columns. The campaign goes on while it is read."), el("div", {}, file), message);
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
    run: () => del(shared.root).then(() => location.assign("/manage")),
  });
  return section("Delete", el("p", { class: "muted" }, "Deletes the campaign and its whole log."), el("div", {}, el("button", { type: "button", class: "button danger", onclick: remove }, "Delete campaign")));
}

const EVENTS = [["answer", "Every answer"], ["spent", "Budget spent"], ["closed", "Closed"]];

/** Addresses that are told when something happens. */
function webhooks(shared) {
  const root = `${shared.root}/webhooks`;
  const list = el("div");
  const message = el("div", { "aria-live": "polite" });
  let url = "";
  const chosen = new Set(["closed", "spent"]);

  const refresh = () => fill(list, root, (all) => (all.length ? el("ul", { class: "plain rows" }, all.map(line)) : el("p", { class: "muted" }, "No address is told anything.")));

  const line = (hook) =>
    el("li", { class: "line between" }, el("span", {}, el("span", { class: "mono" }, hook.url), " ", el("span", { class: "badges" }, (hook.events ?? []).map((event) => el("span", { class: "badge" }, event)))),
      el("button", { type: "button", class: "button small danger", "aria-label": `Remove ${hook.url}`, onclick: () => confirm({
        title: "Remove this webhook?", say: hook.url, button: "Remove", danger: true,
        run: () => del(`${root}/${encodeURIComponent(hook.id)}`).then(refresh),
      }) }, "Remove"));

  const form = el("div", { class: "stack" },
    field({ label: "Address", path: "url", hint: "https only. Each message is signed and sent again until it is taken." }, text("", (value) => { url = value.trim(); }, { type: "url", placeholder: "https://example.org/askone", maxlength: "2000" })),
    el("fieldset", { class: "field", dataset: { path: "events" } }, el("legend", {}, "When"),
      el("div", { class: "line" }, EVENTS.map(([event, name]) => check(name, chosen.has(event), (on) => (on ? chosen.add(event) : chosen.delete(event))))), el("span", { class: "error", role: "alert" })),
    el("div", {}, action("Add webhook", () => attempt(form, message, async () => {
      const made = await post(root, { url, events: [...chosen] });
      show(message, el("div", { class: "notice good stack" }, copyable("Secret for checking signatures", made.secret), el("p", { class: "small" }, "Copy it now: it is shown this once.")));
      await refresh();
    }))));
  refresh();
  return el("section", { class: "card stack" }, el("h2", {}, "Webhooks"), list, form, message);
}

const section = (title, ...content) => el("section", { class: "card stack" }, el("h2", {}, title), ...content);

export function tuningTab(panel, shared) {
  shared.listeners.length = 0;
  show(panel, el("div", { class: "halves" },
    el("div", { class: "stack" }, status(shared), budget(shared), moreRows(shared), ending(shared)),
    el("div", { class: "stack" }, settingsFile(shared), webhooks(shared))));
}
