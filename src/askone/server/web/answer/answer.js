// The answer page: joins the session with the elements, keys, fingers and buttons.

import { get, me, toLogin } from "../shared/api.js";
import { Shift, Stopwatch } from "./stopwatch.js";
import { byId, el, icon, toast } from "../shared/dom.js";
import { elements } from "./guidelines.js";
import { keyTable, listen, setSingleKeys, singleKeys } from "./keys.js";
import { insist } from "../shared/backoff.js";
import { count, isMirrored, put, t, tn, use } from "../shared/language.js";
import { Practice } from "./practice.js";
import { consent, isSpent, spent } from "./privacy.js";
import { Screens } from "./screens.js";
import { Session } from "./session.js";
import { picture, showBag, showRow, spoken } from "./question-view.js";
import { answers, bagHint, isOwn, plain, sentence } from "./sentence.js";
import { Swipe } from "./swipe.js";
import { top } from "../shared/header.js";

const campaign = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const [ask, deck, question, row, say] = ["ask", "answers", "question", "row", "say"].map(byId);
const buttons = { left: byId("answer-left"), right: byId("answer-right") };
const pulls = { left: byId("pull-left"), right: byId("pull-right") };
const tools = ["undo", "skip", "unsure", "flag"].map(byId);
const screens = new Screens(byId("screen"));
const watch = new Stopwatch();
const shift = new Shift(() => { byId("break").hidden = false; });
const saved = el("p", { class: "saved", id: "saved" });
let session = null;
let practice = null;
let goals = { goal: null, total: null, given: 0, mine: 0 };

// ---- the question on the page ----

const isPair = (q) => q?.kind === "pair";

/** Left and right words: a pair as it lies, otherwise no on the left and yes on the right; mirrored with the page. */
function sides(q) {
  const [yes, no] = answers(q);
  return isPair(q) ? { left: yes, right: no } : { left: no, right: yes };
}

/** Where the arrow of a side points. */
const pointing = (side) => (isMirrored() ? { left: "right", right: "left" }[side] : side);

function label(side, word, q) {
  const key = isPair(q) ? { left: "←", right: "→" }[pointing(side)] : { left: "N", right: "Y" }[side];
  const sign = icon(isPair(q) ? pointing(side) : { left: "no", right: "yes" }[side]);
  buttons[side].replaceChildren(sign, el("span", { class: "word", dir: "auto" }, word),
    el("kbd", { "aria-hidden": "true" }, key));
  buttons[side].setAttribute("aria-keyshortcuts", isPair(q) ? { left: "ArrowLeft", right: "ArrowRight" }[pointing(side)] : key);
  pulls[side].textContent = word;
}

function show(q, { switched, bag = null, goesOn = false }) {
  const lostFocus = !screens.section.hidden && screens.section.contains(document.activeElement);
  screens.hide();
  document.body.classList.remove("idle");
  ask.hidden = deck.hidden = false;
  document.body.classList.toggle("pair", isPair(q));
  question.replaceChildren(...sentence(q));
  if (isOwn(q)) question.dir = "auto";
  else question.removeAttribute("dir");
  question.classList.toggle("long", plain(q).length > 60 || (q.set?.length ?? 0) > 4);
  row.hidden = !(bag ? showBag(row, q, bag) : showRow(row, q));
  row.classList.toggle("wall", Boolean(bag));
  if (bag) question.append(...bagHint(q, bag));
  ask.classList.toggle("pictured", Boolean(q.row.image) && !bag);
  ask.classList.toggle("wordy", row.classList.contains("wordy") && !q.row.image && !bag);
  document.body.classList.toggle("rowless", row.hidden);
  const words = sides(q);
  label("left", words.left, q);
  label("right", words.right, q);
  const dot = () => el("span", { class: "dot" });
  byId("swipe-hint").replaceChildren(icon(pointing("left")), words.left, dot(), t("swipe"), dot(), words.right, icon(pointing("right")));
  byId("main").scrollTop = 0;
  enter(switched);
  if (!goesOn) watch.start();
  say.textContent = spoken(q, bag);
  if (switched) toast(t("This question was updated."), 3);
  if (lostFocus) question.focus({ preventScroll: true });
}

/** A row that is longer than the screen is a stop for the Tab key, so that it can be scrolled from there. */
const reach = new ResizeObserver(() => {
  const main = byId("main");
  if (main.scrollHeight > main.clientHeight + 1) main.tabIndex = 0;
  else main.removeAttribute("tabindex");
});

/** Plays the small entrance again. */
function enter(switched) {
  ask.classList.remove("enter", "switched");
  void ask.offsetWidth;
  ask.classList.add(switched ? "switched" : "enter");
}

function screen(name, words) {
  const hadFocus = deck.contains(document.activeElement) || ask.contains(document.activeElement);
  ask.hidden = true;
  // While a question is on its way the buttons keep their place, and the focus stays on them.
  deck.hidden = name !== "loading";
  document.body.classList.toggle("idle", deck.hidden);
  const why = name === "done" && isSpent(session?.privacy) ? t("You have spent all of your privacy here: you are asked nothing more. Thank you for your answers.") : words;
  if (!screens.show(name, why) || name === "loading") return;
  say.textContent = `${screens.title.textContent}. ${screens.text.textContent}`;
  if (hadFocus || document.activeElement === document.body) screens.title.focus({ preventScroll: true });
}

// ---- saved or not, and how far ----

const STATES = {
  saved: ["saved", () => t("Saved")],
  saving: ["saving", () => t("Saving…")],
  unsaved: ["unsaved", (n) => tn("Not saved ({n} waiting)", "Not saved ({n} waiting)", n)],
};
let told = "saved";

function showSaved(state, waiting) {
  const [sign, words] = STATES[state];
  saved.dataset.state = state;
  saved.replaceChildren(icon(sign), el("span", {}, words(waiting)));
  // Each "saving" would be chatter: those who listen hear of trouble, and of its end.
  if (state === "unsaved") byId("say-saved").textContent = words(waiting);
  else if (state === "saved" && told === "unsaved") byId("say-saved").textContent = t("All answers are saved.");
  if (state !== "saving") told = state;
}

/** How many answers are still wanted, and what share of all is there: of one's own, or of the campaign's; or nulls. */
function far(mine) {
  const { goal, total, given } = goals;
  if (goal !== null) return { left: Math.max(0, goal - mine), share: mine / goal };
  const left = session.left ?? (total === null ? null : Math.max(0, total - given - (mine - goals.mine)));
  if (left === null) return { left, share: null };
  const all = total ?? mine + left;
  return { left, share: all > 0 ? (all - left) / all : null };
}

function progress() {
  if (practice?.shown) return;
  const { mine, lost } = session;
  // At the end nothing is left to do, even where some questions of the budget found no answer.
  const over = ["closed", "spent", "resting", "done"].includes(screens.name);
  const { left, share } = over ? { left: null, share: null } : far(mine);
  const parts = [tn("{n} answered", "{n} answered", mine)];
  if (left !== null && goals.goal === null) parts.push(tn("{n} left", "{n} left", left));
  else if (left !== null) parts.push(tn("{n} to your goal of {goal}", "{n} to your goal of {goal}", left, { goal: count(goals.goal) }));
  if (shift.minutes > 0) parts.push(tn("{n} min", "{n} min", shift.minutes));
  if (session.privacy) parts.push(spent(session.privacy, session.waiting));
  if (lost > 0) parts.push(tn("{n} not counted", "{n} not counted", lost));
  byId("progress").textContent = parts.join(" · ");
  byId("bar").hidden = share === null;
  byId("bar").setAttribute("aria-valuenow", String(Math.round(100 * (share ?? 0))));
  byId("bar-fill").style.width = `${100 * (share ?? 0)}%`;
  const open = session.shown !== null;
  byId("undo").setAttribute("aria-disabled", String(session.undoable <= 0));
  for (const tool of tools.slice(1)) tool.setAttribute("aria-disabled", String(!open));
  for (const button of Object.values(buttons)) button.setAttribute("aria-disabled", String(!open));
}

// ---- what the person does ----

function press(side) {
  const q = session.shown;
  if (practice?.shown) {
    practice.answer(side === (isPair(practice.shown) ? "left" : "right"));
    return;
  }
  if (q === null || !session.answer(side === (isPair(q) ? "left" : "right"))) return;
  shift.answered();
  buttons[side].classList.add("pressed");
  setTimeout(() => buttons[side].classList.remove("pressed"), 160);
}

const ACTS = {
  left: () => press("left"),
  right: () => press("right"),
  undo: () => session.undo(),
  skip: () => session.skip("skip"),
  unsure: () => session.skip("cannot tell"),
  // The page itself does not scroll, its middle does: without this a keyboard could not reach the end of a long row.
  up: () => byId("main").scrollBy({ top: -90 }),
  down: () => byId("main").scrollBy({ top: 90 }),
  flag: openFlagging,
  help: openHelp,
};

function openFlagging() {
  const q = session.shown;
  if (q === null || session.privacy) return;
  if (session.bag) session.oneByOne(); // a note is about one row
  const dialog = byId("flagging");
  byId("reason").value = "";
  dialog.returnValue = "cancel";
  dialog.onclose = () => {
    const reason = byId("reason").value.trim();
    if (dialog.returnValue !== "send" || reason === "") return;
    session.flag(reason, q);
    toast(t("Thank you: the manager gets your note."));
  };
  dialog.showModal();
}

function openHelp() {
  const q = session?.shown;
  const words = q ? sides(q) : { left: t("No"), right: t("Yes") };
  byId("help-keys").replaceChildren(...keyTable(words.left, words.right, isPair(q), document.body.classList.contains("private")).flatMap(([what, keys]) => [
    el("dt", { dir: "auto" }, what),
    el("dd", {}, keys.flatMap((key, n) => [n > 0 ? " " : "", el("kbd", {}, key)])),
  ]));
  byId("single-keys").checked = singleKeys();
  byId("help").showModal();
}

// ---- beginning ----

/** The words of the buttons and of the help. */
function word() {
  const words = { undo: [t("Undo"), "U"], skip: [t("Skip"), "S"], unsure: [t("Can’t tell"), "T"], flag: [t("Report"), "G"] };
  for (const tool of tools) {
    const [text, key] = words[tool.id];
    tool.replaceChildren(icon(tool.id), el("span", {}, text), el("kbd", { "aria-hidden": "true" }, key));
  }
  const account = () => el("a", { href: "/account" }, t("Account"));
  byId("kept").replaceChildren(
    t("Answers are kept on this device until the server has them, so nothing is lost when the connection is."), " ",
    ...put(t("They are stored under an id, not under your name; under {account} you can have your data deleted."), { account }));
}

function wire() {
  for (const tool of tools) {
    tool.addEventListener("click", () => tool.getAttribute("aria-disabled") !== "true" && ACTS[tool.id]());
  }
  for (const side of ["left", "right"]) buttons[side].addEventListener("click", () => press(side));
  listen((name) => ACTS[name](), () => isPair(practice?.shown ?? session.shown));
  for (const part of [byId("main"), ask]) reach.observe(part);
  new Swipe(byId("main"), byId("swipe"), pulls, { ready: () => practice?.shown || session.ready, done: press });
  byId("single-keys").addEventListener("change", (event) => setSingleKeys(event.target.checked));
  byId("break-over").addEventListener("click", () => {
    byId("break").hidden = true;
    shift.rested();
    question.focus({ preventScroll: true });
  });
}

function header(brief) {
  const guided = Boolean(brief?.instructions.trim());
  const help = el("button", { class: guided ? "button quiet guided" : "button quiet icon", type: "button", "aria-label": guided ? t("Guidelines and help") : t("Help"),
    "aria-keyshortcuts": "? H", onclick: openHelp }, icon("help"), guided ? el("span", { class: "wide-only" }, t("Guidelines")) : null);
  top(null, [el("span", { class: "campaign", dir: "auto" }, brief?.title ?? "")], [saved, help]);
}

function brief(record) {
  document.title = `${record.title} · askone`;
  header(record);
  goals = record;
  const guided = record.guidelines?.length > 0;
  byId("instructions").replaceChildren(...elements(record.guidelines));
  byId("guide").replaceChildren(el("h2", {}, t("Guidelines")), el("div", { class: "instructions" }, elements(record.guidelines)));
  byId("guide").hidden = !guided;
  showPrivacy(record.privacy ?? null);
  document.body.classList.toggle("guided", guided);
  if ((guided || record.privacy) && record.mine === 0) openHelp();
  else byId("help-close").textContent = t("Close");
  byId("help").addEventListener("close", () => { byId("help-close").textContent = t("Close"); }, { once: true });
}

/** Where answers are private, one is told so before the first, and what would tell more is not there. */
function showPrivacy(privacy) {
  document.body.classList.toggle("private", privacy !== null);
  byId("private").hidden = privacy === null;
  byId("private").replaceChildren(...(privacy ? consent(privacy) : []));
  for (const tool of tools) tool.hidden = privacy !== null && tool.id !== "skip";
}

/** Speaks the reader's language, or the campaign's; what stands on the page already is said anew. */
async function speak(wanted, told) {
  if (!(await insist(() => use(wanted), told))) return;
  word();
  if (session) showSaved(session.outbox.state, session.outbox.items.length);
  screens.redraw();
  if (session?.shown) show(session.shown, { switched: false, bag: session.bag, goesOn: true });
}

async function begin() {
  const unreachable = () => screens.show("unreachable");
  await speak("auto", unreachable);
  header(null);
  const person = await insist(me, unreachable);
  if (!person.user) return toLogin();
  const prefetch = (questions) => questions.forEach((q) => q && picture(q.row.image));
  session = new Session(campaign, person.user.id,
    { show, screen, prefetch, progress, saved: showSaved, note: (text) => toast(text, 2 + text.length / 20), took: () => watch.seconds });
  wire();
  showSaved(session.outbox.state, session.outbox.items.length);
  const waiting = session.outbox.items.length > 0;
  if (waiting) session.begin();
  try {
    const record = await insist(() => get(`${session.path}/brief`), unreachable);
    await speak(record.language, unreachable);
    brief(record);
    if (record.practice?.length && !waiting) {
      practice = new Practice(record.practice, { show }, begun);
      return undefined;
    }
  } catch (error) {
    // The session tells why the campaign is closed to this person; its title is not needed for that.
    if (error.status === 401) return toLogin();
  }
  if (!waiting) session.begin();
  else progress();
  return undefined;
}

/** The training round is over. */
function begun() {
  practice = null;
  screen("loading");
  session.begin();
}

begin();
