// The training round: questions whose answers are known, before the first real one. Nothing of it is sent or kept.

import { byId, el, show } from "../shared/dom.js";
import { count, plural } from "../shared/format.js";

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
    const word = question.answers[answer ? 0 : 1];
    this.#say(right ? "good" : "warn", right ? "Right." : `Not quite: the answer is “${word}”.`,
      this.#at + 1 < this.round.length ? ["Next", () => this.#next()] : ["Begin", () => this.#end()],
      this.#at + 1 < this.round.length ? "" : ` That was the practice: ${count(this.#right)} of ${plural(this.round.length, "answer")} right. Now it counts.`);
  }

  #next() {
    this.#at += 1;
    this.shown = this.round[this.#at].question;
    this.#say("", `Practice ${count(this.#at + 1)} of ${count(this.round.length)}:`, ["Leave it out", () => this.#end()], " these answers do not count, and you are told whether they are right.");
    this.view.show(this.shown, { switched: false });
  }

  #say(kind, strong, [name, run], more = "") {
    const go = el("button", { type: "button", class: this.shown ? "button small quiet" : "button small primary", onclick: run }, name);
    this.place.className = `notice practice ${kind}`;
    show(this.place, el("span", {}, el("strong", {}, strong), more), go);
    if (!this.shown) go.focus({ preventScroll: true });
  }

  #end() {
    this.shown = null;
    this.place.hidden = true;
    this.done();
  }
}
