// Changing a campaign that runs: its status, its settings, more rows, who is told, and its end.

import { del, patch, post, upload } from "../shared/api.js";
import { confirm, copy, copyable } from "../shared/dialogs.js";
import { el, show, toast } from "../shared/dom.js";
import { saveAs } from "../shared/download.js";
import { action, attempt, check, choice, chooser, field, fill, longText, numeral, peoplePerQuestion, TABLES, text } from "../shared/fields.js";
import { plural } from "../shared/format.js";
import { languageChoices } from "../shared/language.js";
import { PLACES, UNTIL } from "../shared/setting-names.js";

const END_WORDS = {
  target: "The target is reached: nobody is asked. Resume to go on all the same.",
  budget: "The budget is spent: nobody is asked. Raise it below to go on.",
  rows: "Every row has been asked. Add rows, or raise “Questions per row”, to go on.",
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
    el("div", { class: "line between" },
      shared.status === "running" ? action("Pause", () => shared.turn("paused")) : action(shared.status === "closed" ? "Open again" : "Resume", () => shared.turn("running"), { class: "button primary" }),
      shared.status === "closed" ? null : el("button", { type: "button", class: "button danger", onclick: () => shared.close() }, "Close")));
  shared.listeners.push(draw);
  draw();
  return section("Status", place);
}

/** What may be changed while people answer: [path, label, hint, control(value, set)]. */
function changeable({ labels }) {
  const whole = (value, set) => numeral(value, set, { min: "1", step: "1" });
  const line = (value, set) => text(value, set);
  return [
    ["title", "Title", "People see it above the questions.", line],
    ["question.wording", "The question", `${PLACES[labels.kind] ?? ""} Empty: a sentence is made for you.`, line],
    ["question.instructions", "Guidelines", "Markdown: **bold**, lists, links; ![what it shows](name) for the picture of a row.", (value, set) => longText(value, set, { rows: "6", maxlength: "20000" })],
    ["question.language", "Language", "Of the pages for people who answer. Your own wording stays as it is.", (value, set) => choice(value ?? "auto", languageChoices(), set)],
    ["budget", "Answers in all", "Empty: no limit.", whole],
    ["ask.target", "Stop below this error", "Of the measured error. Empty: never.", (value, set) => numeral(value, set, { min: "0" })],
    ["ask.per_row", "Questions per row", "Each row is asked again when all others were.", whole],
    ["ask.until", "Ask a row again", "Until it is known: at most as often as above.", (value, set) => choice(value ?? "asked", UNTIL, set)],
    ["ask.tolerance", "Known within (%)", "Of a number, its deviation as a share of the range; of a class, the chance that it is another.", (value, set) => numeral(Number((100 * (value ?? 0.05)).toPrecision(6)), (wish) => set(wish === null ? null : wish / 100), { min: "0", max: "50", step: "any" })],
    ...(labels.kind === "class" && !labels.attributes ? [["ask.bag", "Rows at once", "Up to nine: where the model is nearly sure of several rows, one key confirms all of them.", (value, set) => numeral(value ?? 1, set, { min: "1", max: "9", step: "1" })]] : []),
    ["ask.overlap", "People per question", "Of questions from now on; auto: others where their opinion tells most.", peoplePerQuestion],
    ["ask.per_person", "Most per person", "Empty: no limit.", whole],
    ["people.pause_below", "Pause people below (bits)", "People whose answers surely tell less than this are asked no more, and see a friendly message; 0.2 is modest. Empty: nobody.", (value, set) => numeral(value, set, { min: "0", max: "1", step: "any" })],
    ["people.pause_after", "Answers before a pause", "Nobody is paused who gave fewer.", (value, set) => numeral(value ?? 40, set, { min: "10", step: "1" })],
  ];
}

const at = (record, path) => path.split(".").reduce((part, name) => part?.[name] ?? null, record);

/** One form for all of these; what was changed is sent, and every change is noted in the log. */
function general(shared) {
  const { record } = shared;
  const known = { ...record.settings, budget: record.budget ?? null };
  const wish = {};
  const place = el("div", { "aria-live": "polite" });
  const fields = changeable(record.settings).map(([path, label, hint, control]) =>
    field({ label, hint, path, wide: path.includes("question") || path === "title" }, control(at(known, path) ?? (path === "ask.per_row" ? 1 : null), (value) => { wish[path] = value; })));
  const form = el("div", { class: "stack" }, el("div", { class: "fields" }, fields),
    el("div", {}, action("Save", () => attempt(form, place, async () => {
      show(place);
      const body = wanted(wish, known);
      if (!Object.keys(body).length) return;
      const made = await patch(shared.root, body);
      Object.assign(record, { settings: made.settings, toml: made.toml, budget: made.budget ?? null });
      Object.assign(known, made.settings, { budget: record.budget });
      toast("Saved; it holds from the next question on.");
      shared.renamed(made.settings.title);
      shared.poll.now();
    }), { class: "button primary" })), place);
  return section("Settings", el("p", { class: "muted small" }, "These can be changed while people answer. Each change is noted in the log."), form);
}

/** The body of a change: only what is other than it was. */
function wanted(wish, known) {
  const body = {};
  for (const [path, value] of Object.entries(wish)) {
    if (value === at(known, path)) continue;
    if (path === "budget") body.budget = value;
    else {
      body.settings ??= {};
      const [table, name] = path.split(".");
      if (name) body.settings[table] = { ...body.settings[table], [name]: value };
      else body.settings[table] = value;
    }
  }
  return body;
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
    el("div", { class: "stack" }, general(shared), moreRows(shared)),
    el("div", { class: "stack" }, status(shared), settingsFile(shared), webhooks(shared), ending(shared))));
}
