// The training round: questions whose answers are known, before the first real one. Nothing of it is sent or kept.

import { byId, el, show } from "../shared/dom.js";
import { count, t, tn } from "../shared/language.js";
import { answers } from "./sentence.js";

export class Practice {
  shown = null;
  #at = -1;
  #right = 0;

  /** view: show(question); done() is called when the round is over. */
  constructor(round, view, done) {
    Object.assign(this, { round, view, done });
    this.place = byId("practice");
    this.place.hidden = false;
    this.#next();
  }

  answer(yes) {
    if (this.shown === null) return;
    const { answer, question } = this.round[this.#at];
    const right = yes === answer;
    this.#right += right ? 1 : 0;
    this.shown = null;
    const word = answers(question)[answer ? 0 : 1];
    const over = this.#at + 1 >= this.round.length;
    this.#say(right ? "good" : "warn", right ? t("Right.") : t("Not quite: the answer is “{answer}”.", { answer: word }),
      over ? [t("Begin"), () => this.#end()] : [t("Next"), () => this.#next()],
      over ? tn("That was the practice: {right} of {n} answer right. Now it counts.", "That was the practice: {right} of {n} answers right. Now it counts.", this.round.length, { right: count(this.#right) }) : "");
  }

  #next() {
    this.#at += 1;
    this.shown = this.round[this.#at].question;
    this.#say("", t("Practice {at} of {all}:", { at: count(this.#at + 1), all: count(this.round.length) }), [t("Leave it out"), () => this.#end()],
      t("these answers do not count, and you are told whether they are right."));
    this.view.show(this.shown, { switched: false });
  }

  #say(kind, strong, [name, run], more = "") {
    const go = el("button", { type: "button", class: this.shown ? "button small quiet" : "button small primary", onclick: run }, name);
    this.place.className = `notice practice ${kind}`;
    show(this.place, el("span", {}, el("strong", {}, strong), more && ` ${more}`), go);
    if (!this.shown) go.focus({ preventScroll: true });
  }

  #end() {
    this.shown = null;
    this.place.hidden = true;
    this.done();
  }
}
