// The set-up of a campaign, step by step. Each step is a module; this one leads through them.

import { get } from "../shared/api.js";
import { debounced, el, show } from "../shared/dom.js";
import { Draft } from "./draft.js";
import { bad, clearErrors, showError, words } from "../shared/fields.js";
import { Preview } from "./preview.js";
import { start } from "../manage/page.js";
import { askingStep } from "./step-asking.js";
import { columnsStep } from "./step-columns.js";
import { createStep } from "./step-create.js";
import { dataStep } from "./step-data.js";
import { questionStep } from "./step-question.js";

// id, name, module, the settings that are written there, whether the preview stands beside it
const STEPS = [
  ["data", "Data", dataStep, [], false],
  ["columns", "Columns", columnsStep, ["rows"], true],
  ["question", "Question", questionStep, ["labels", "question", "title"], true],
  ["asking", "Asking", askingStep, ["ask", "learner", "privacy"], false],
  ["create", "Create", createStep, [], false],
];
const TITLES = {
  data: "What are the rows?", columns: "What is in the columns?", question: "What is asked?", asking: "How much is asked?", create: "Ready",
};
const WAIT = 350; // milliseconds after the last key
const ENOUGH = 3000; // milliseconds after which the next step is shown all the same
const SLOW = 400; // milliseconds after which it is said what is waited for

class Wizard {
  constructor(draft, place) {
    this.draft = draft;
    this.at = 0;
    this.farthest = draft.started ? STEPS.length - 1 : 0;
    this.preview = new Preview(draft, (error) => this.#report(error), () => this.#open(this.at));
    this.path = el("ol", { class: "steps plain", "aria-label": "Steps" });
    this.head = el("h1", { tabindex: "-1" });
    this.body = el("div", { class: "wizard-body stack" });
    this.message = el("div", { "aria-live": "polite" });
    this.foot = el("div", { class: "line between wizard-foot" });
    this.layout = el("div", { class: "wizard" }, el("div", { class: "stack wizard-main" }, this.head, this.body, this.message, this.foot), this.preview.element);
    const later = debounced(() => this.draft.started && this.preview.refresh(), WAIT);
    draft.listeners.push(later);
    this.goTo = Object.assign((id, error) => this.#open(indexOf(id), error), { owner });
    show(place, this.path, this.layout);
  }

  begin() {
    this.#open(this.draft.started ? 1 : 0);
    if (this.draft.started) this.preview.refresh();
  }

  #open(index, error = null) {
    this.at = index;
    this.farthest = Math.max(this.farthest, index);
    const [id, , make, , beside] = STEPS[index];
    this.head.textContent = TITLES[id];
    show(this.message);
    show(this.body, make(this.draft, { next: () => this.#begun(), goTo: this.goTo, example: () => this.preview.questions[0]?.sentence, foot: (button) => { this.last = button; } }));
    this.preview.element.hidden = !beside;
    this.layout.classList.toggle("beside", beside);
    this.#drawPath();
    this.#drawFoot();
    if (error) this.#report(error);
    else if (id === "create") this.preview.refresh();
    if (document.activeElement !== document.body) this.head.focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }

  /** A table has come, or none is needed. */
  #begun() {
    this.farthest = STEPS.length - 1;
    this.preview.refresh();
    this.#open(this.draft.file ? 1 : 2);
  }

  #drawPath() {
    show(this.path, STEPS.map(([, name], i) =>
      el("li", { class: i < this.at ? "done" : "" },
        el("button", { type: "button", "aria-current": i === this.at ? "step" : null, disabled: i > this.farthest || (i > 0 && !this.draft.started), onclick: () => this.#open(i) },
          el("span", { class: "step-number" }, String(i + 1)), el("span", { class: "step-name" }, name)))));
  }

  #drawFoot() {
    const back = this.at ? el("button", { type: "button", class: "button", onclick: () => this.#open(this.at - 1) }, "Back") : el("span");
    const last = this.at === STEPS.length - 1;
    const next = last ? this.last : this.at === 0 && !this.draft.started ? el("span") : el("button", { type: "button", class: "button primary", onclick: () => this.#next() }, `Next: ${STEPS[this.at + 1][1].toLowerCase()}`);
    show(this.foot, back, next);
  }

  /** On, unless something in this step is wrong. */
  async #next() {
    const here = this.at;
    if (this.going === here) return; // one look at the settings is enough, however often the button is pressed
    this.going = here;
    const waits = el("p", { class: "line muted", role: "status" }, el("span", { class: "spinner" }), "Trying the first questions on your rows. On a server that has just been installed this takes half a minute, once …");
    const later = setTimeout(() => here === this.at && show(this.message, waits), SLOW);
    let good;
    try {
      // Later steps can be filled in meanwhile: what is wrong here is told there, with a way back.
      good = await Promise.race([this.preview.refresh(), new Promise((go) => { setTimeout(go, ENOUGH, true); })]);
    } finally {
      clearTimeout(later);
      waits.remove();
      if (this.going === here) this.going = null;
    }
    const mine = !good && (this.trouble?.argument ? owner(this.trouble.argument) === STEPS[here][0] : true);
    if (here !== this.at) return;
    if (good || !mine) this.#open(here + 1);
    else this.body.querySelector("[aria-invalid]")?.focus();
  }

  #report(error) {
    this.trouble = error;
    // A preview knows nothing of the name, nor of a forecast: what was found wrong there stays.
    clearErrors(this.body, ["name", "answers", "flip"]);
    show(this.message);
    if (!error) return;
    if (showError(this.body, error.argument, words(error))) return;
    const place = owner(error.argument);
    if (!place) show(this.message, bad(words(error)));
    else if (indexOf(place) < this.at)
      show(this.message, bad(words(error)), el("p", {}, el("button", { type: "button", class: "button small", onclick: () => this.#open(indexOf(place), error) }, `Go to “${STEPS[indexOf(place)][1]}”`)));
  }
}

const indexOf = (id) => STEPS.findIndex(([name]) => name === id);

/** The step in which the setting of this path is written. */
function owner(argument) {
  const first = (argument ?? "").split(".")[0];
  return STEPS.find(([, , , tables]) => tables.includes(first))?.[0] ?? null;
}

start(async (person, place) => {
  const like = new URLSearchParams(location.search).get("like");
  const draft = like ? new Draft() : Draft.kept();
  if (like) draft.like = (await get(`/campaigns/${encodeURIComponent(like)}`)).settings;
  new Wizard(draft, place).begin();
});
