// The question as people will see it, on real rows, while its settings are written.

import { post } from "../shared/api.js";
import { el, scrolls, sharp, show } from "../shared/dom.js";
import { words } from "../shared/fields.js";
import { grouped } from "../shared/format.js";

// The server ends what takes it too long, and says so; a page that lets go sooner would have it begin again each time.
const PATIENCE = 600_000;

/** A question with its row, as it will look; nothing of it can be pressed. */
export function questionCard(question) {
  const { sentence, answers, set, pair, row } = question;
  const fields = (row?.fields ?? []).filter((one) => one.kind !== "image");
  // As on the answer page: no on the left, yes on the right; a pair as it lies.
  const sides = pair ? [["item", pair.left], ["item", pair.right]] : [["no", answers[1]], ["yes", answers[0]]];
  return el("div", { class: "preview-question" },
    el("p", { class: "preview-sentence" }, set || pair ? sentence : grouped(sentence)),
    set && !sentence.includes(set.join(", ")) ? el("ul", { class: "chips" }, set.map((name) => el("li", { class: "chip" }, name))) : null,
    row?.image ? picture(row) : null,
    fields.length ? el("dl", { class: "preview-fields" }, fields.map((one) => el("div", {}, el("dt", {}, one.name), scrolls(el("dd", {}, String(one.value)))))) : null,
    el("div", { class: "preview-answers", "aria-hidden": "true" }, sides.map(([kind, word]) => el("span", { class: `preview-answer ${kind}` }, word))));
}

/** The row's picture; words where the picture cannot be had before there is a campaign. */
function picture(row) {
  const image = sharp(el("img", { src: row.image, alt: "The picture that is asked about" }));
  image.addEventListener("error", () => image.replaceWith(el("p", { class: "preview-picture muted" }, "The picture stands here, once the campaign is made.")));
  return image;
}

/** `report(error or null)` is told how the latest settings fared; `redraw()` is called when they were changed from here. */
export class Preview {
  constructor(draft, report, redraw) {
    Object.assign(this, { draft, report, redraw });
    this.changed = false;
    this.looking = null;
    this.at = 0;
    this.questions = [];
    this.card = el("div");
    this.doubts = el("div", { class: "stack", "aria-live": "polite" });
    this.place = el("span", { class: "muted small number" });
    this.element = el("aside", { class: "card preview", "aria-label": "Preview of the question" },
      el("div", { class: "line between" }, el("h2", {}, "Preview"),
        el("div", { class: "line" },
          el("button", { type: "button", class: "button quiet small", "aria-label": "Row before", onclick: () => this.#go(-1) }, "‹"), this.place,
          el("button", { type: "button", class: "button quiet small", "aria-label": "Row after", onclick: () => this.#go(1) }, "›"))),
      el("p", { class: "preview-stale muted small" }, "As it was before the last change."), this.card, this.doubts);
    this.#draw();
  }

  /** Asks the server about the settings as they are now. Whether they are good. */
  refresh() {
    this.changed = true;
    this.looking ??= this.#look().finally(() => { this.looking = null; });
    return this.looking;
  }

  /** One request at a time, and another if the settings changed meanwhile: the server makes one preview after the other. */
  async #look() {
    this.element.setAttribute("aria-busy", "true");
    if (!this.questions.length) show(this.card, el("p", { class: "line muted" }, el("span", { class: "spinner" }), "Reading your rows and making the first questions …"));
    let good;
    while (this.changed) {
      this.changed = false;
      good = await post(this.draft.path("preview"), { settings: this.draft.settings }, { patience: PATIENCE }).then(
        (made) => this.changed || this.#take(made),
        (error) => this.changed || this.#refuse(error));
    }
    this.element.removeAttribute("aria-busy");
    return good;
  }

  #take(made) {
    this.questions = made.questions;
    this.draft.take(made.toml);
    show(this.doubts, (made.doubts ?? []).map((doubt) => this.#doubt(doubt)));
    this.#draw();
    this.report(null);
    return true;
  }

  #refuse(error) {
    this.report(error);
    if (!this.questions.length) show(this.card, el("p", { class: "muted" }, `There is no question to show yet: ${words(error)}`));
    this.element.classList.add("stale");
    return false;
  }

  /** What to look at before people are asked; a column can be left out by one click. */
  #doubt({ text, column }) {
    const out = () => {
      this.draft.leaveOut(column);
      this.redraw();
    };
    return el("div", { class: "notice warn" }, el("p", {}, text),
      column ? el("p", {}, el("button", { type: "button", class: "button small", onclick: out }, `Leave out ${column}`)) : null);
  }

  #go(step) {
    const n = this.questions.length;
    if (n) this.at = (this.at + step + n) % n;
    this.#draw();
  }

  #draw() {
    this.element.classList.remove("stale");
    const n = this.questions.length;
    this.at = Math.min(this.at, Math.max(0, n - 1));
    this.place.textContent = n ? `${this.at + 1} of ${n}` : "";
    show(this.card, n ? questionCard(this.questions[this.at]) : el("p", { class: "muted" }, "The question appears here, on your own rows."));
  }
}
