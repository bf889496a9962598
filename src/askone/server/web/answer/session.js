// One person answering one campaign: which question is on the screen, what waits in the outbox, what comes next.
// It knows the server and no element of the page; the view is told what to show.
//
// An answer is one bit, so the server sends the next question for "yes" and for "no" ahead. The page shows the right
// one at once. The answer's response then has the last word: normally the very same question.

import { ApiError, post, toLogin } from "../shared/api.js";
import { Leases } from "./leases.js";
import { Outbox } from "./outbox.js";
import { Bag } from "./bag.js";
import { insist } from "../shared/backoff.js";
import { randomized } from "./privacy.js";
import { t, told } from "../shared/language.js";

// A second press of an impatient finger must not answer the next question unread.
const GUARD = 220;
const GUARD_AFTER_SWITCH = 700;
const PATIENCE = 15_000;
// Seconds until the server is asked again, for states that may pass.
const POLL = { waiting: 3, paused: 8, spent: 30, resting: 30, done: 30, closed: 60 };

/** Two questions are the same for a person when this is the same, whatever lease they have. */
const print = (q) => JSON.stringify([q.number, q.kind, q.sentence, q.set, q.pair, q.row.fields, q.bag?.map((one) => one.number)]);

export class Session {
  lost = 0; // answers that could not be counted
  shown = null; // the question on the screen
  serving = null; // the server's last word
  #ahead = null;
  #past = new Map(); // what stood on the screen when an item of the outbox was made
  #turn = 0; // grows with every act: a late response to "next" then has no say
  #open = 0; // the moment from which an answer is taken
  #poll = null;
  #stopped = false;
  #bags = []; // what is known of the rows on the screen, after each answer about several of them
  #apart = new Set(); // leases of rows that are to be asked about one by one

  /** view: show(question, {switched}), prefetch(questions), screen(name, words), note(text), progress(), took(). */
  constructor(campaign, user, view) {
    this.path = `/campaigns/${encodeURIComponent(campaign)}`;
    this.view = view;
    this.outbox = new Outbox(`${user}/${campaign}`, {
      send: (item) => post(`${this.path}/${item.path}`, item.body, { keepalive: true, patience: PATIENCE }),
      accepted: (item, serving) => this.#accepted(item, serving),
      refused: (item, error) => this.#refused(item, error),
      signedOut: toLogin,
      changed: () => this.#changed(),
      // A duplicate passes: the same answer is being written by another process.
      waits: (error) => error.passing || error.code === "duplicate_event",
    });
    this.leases = new Leases(this.path, () => this.refresh());
    this.#followPage();
  }

  #followPage() {
    window.addEventListener("pagehide", () => {
      this.leases.release(this.outbox.items.flatMap((item) => item.body.leases ?? item.body.lease));
    });
    // Back from the browser's cache of pages: the leases are gone.
    window.addEventListener("pageshow", (event) => event.persisted && this.refresh());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible" && this.shown === null) this.refresh();
    });
    window.addEventListener("beforeunload", (event) => {
      if (this.outbox.items.length > 0 && !this.outbox.lasting) event.preventDefault();
    });
  }

  begin() {
    if (this.outbox.items.length === 0) return this.refresh();
    this.view.screen("resuming");
    return this.outbox.pump();
  }

  /** Asks for the present question, unless answers wait: their responses will bring it. */
  async refresh() {
    if (this.#stopped || this.outbox.items.length > 0) return;
    const turn = ++this.#turn;
    const stale = () => turn !== this.#turn || this.outbox.items.length > 0;
    try {
      const serving = await insist(
        () => (stale() ? null : post(`${this.path}/next`, {})),
        () => !stale() && this.shown === null && this.view.screen("unreachable"),
      );
      if (serving !== null && !stale()) this.#accept(serving);
    } catch (error) {
      this.#fail(error);
    }
  }

  // ---- what the person does ----

  get ready() {
    return this.shown !== null && performance.now() >= this.#open;
  }

  /** What is known of one's privacy in this campaign: {epsilon, spent, budget}; null where answers are sent as they are. */
  get privacy() {
    return this.serving?.privacy ?? null;
  }

  /** Yes, no or, where answers are private, null for neither. From here on the true answer is nowhere, and no time is sent. */
  answer(yes) {
    if (!this.ready) return false;
    if (this.bag) return this.#answerBag(yes);
    const epsilon = this.privacy?.epsilon ?? null;
    const answer = epsilon === null ? yes : randomized(yes, epsilon);
    const next = this.#ahead && (answer ? this.#ahead.yes : this.#ahead.no);
    const more = epsilon === null ? { took: Math.round(this.view.took() * 1000) / 1000 } : { epsilon };
    this.#act("answers", { lease: this.shown.lease, answer, ...more });
    if (next) this.#show(next, null);
    else this.#await();
    return true;
  }

  /** Where several rows are asked about at once, what is known of them by now. */
  get bag() {
    return this.#bags.at(-1) ?? null;
  }

  #answerBag(yes) {
    const bag = this.bag.told(yes);
    if (bag.asked.length > 0) {
      this.#bags.push(bag);
      this.#again();
      return true;
    }
    const took = Math.round(this.view.took() * 1000) / 1000;
    const leases = this.shown.bag.map((one) => one.lease);
    this.#act("bags", { leases, answers: bag.answers, took });
    this.#await();
    return true;
  }

  /** The same rows, asked about otherwise: the clock of the answer goes on. */
  #again() {
    this.#open = performance.now() + GUARD;
    this.view.show(this.shown, { switched: false, bag: this.bag, goesOn: true });
    this.view.progress();
  }

  /** Whoever cannot tell for all rows at once is asked about each. */
  oneByOne() {
    for (const one of this.shown.bag) this.#apart.add(one.lease);
    this.#show({ ...this.shown, bag: null }, null);
    return true;
  }

  skip(reason) {
    if (!this.ready) return false;
    if (this.bag) return this.oneByOne();
    if (this.privacy) return this.answer(null);
    this.#act("skips", { lease: this.shown.lease, reason });
    this.#await();
    return true;
  }

  flag(reason, question = this.shown) {
    if (question === null || this.privacy) return;
    this.#act("flags", { lease: question.lease, reason });
  }

  /** What was never sent is taken back here; anything else by the server, in its turn. */
  undo() {
    if (this.#bags.length > 1) {
      this.#bags.pop();
      this.#again();
      return true;
    }
    if (this.undoable <= 0) return false;
    const last = this.outbox.items.at(-1);
    const past = last && this.#past.get(last.body.id);
    if (past && last.path !== "flags" && this.outbox.takeBack(last)) {
      const fresh = this.serving?.question && print(this.serving.question) === print(past.question);
      this.#show(past.question, fresh ? this.serving.ahead : past.ahead);
    } else {
      this.#act("undo", {});
      this.#await();
    }
    return true;
  }

  #act(path, body) {
    this.#turn += 1;
    const question = this.shown;
    const item = this.outbox.push(path, body, question ? { print: print(question) } : {});
    if (question) this.#past.set(item.body.id, { question, ahead: this.#ahead });
  }

  // ---- counts as the person sees them: the server's, and what waits ----

  #waiting(...paths) {
    return this.outbox.items.filter((item) => paths.includes(item.path)).length;
  }

  get undoable() {
    if (this.privacy) return 0;
    return this.#bags.length - (this.bag ? 1 : 0) + (this.serving?.undoable ?? 0) + this.#waiting("answers", "bags", "skips") - this.#waiting("undo");
  }

  get mine() {
    return Math.max(0, (this.serving?.mine ?? 0) + this.waiting - this.#waiting("undo"));
  }

  get waiting() {
    const bags = this.outbox.items.filter((item) => item.path === "bags");
    return this.#waiting("answers") + bags.reduce((sum, item) => sum + item.body.answers.length, 0);
  }

  get left() {
    const left = this.serving?.left ?? null;
    return left === null ? null : Math.max(0, left - this.waiting);
  }

  // ---- what the server says ----

  #accepted(item, serving) {
    this.#past.delete(item.body.id);
    // Taken back during a pause: the question is open again, but nobody is asked before the campaign goes on.
    const paused = item.path === "undo" && this.serving?.state === "paused";
    if (paused && serving.state === "question") serving = { ...serving, state: "paused", question: null, ahead: null };
    this.serving = serving;
    if (item.path === "undo") this.view.note(t("Taken back."));
    if (this.outbox.items.length === 0) this.#accept(serving);
    else this.#glimpse(serving);
  }

  /** The outbox is empty: this is what stands. */
  #accept(serving) {
    this.serving = serving;
    clearTimeout(this.#poll);
    const question = this.#asked(serving);
    if (serving.state !== "question" || !serving.question) {
      this.shown = null;
      this.#ahead = null;
      this.#bags = [];
      this.leases.hold([]);
      this.view.screen(serving.state);
      this.#pollLater(serving.state);
    } else if (this.shown && print(this.shown) === print(question)) {
      this.#hold(question, serving.ahead);
    } else {
      this.#show(question, serving.ahead, this.shown !== null);
    }
    this.view.progress();
  }

  /** The question, with all that are asked at once with it, itself included. */
  #asked({ question, bag }) {
    if (!question || !bag?.length || this.#apart.has(question.lease)) return question;
    return { ...question, bag: [question, ...bag] };
  }

  /** More answers wait behind this response: it may still tell what the next one is worth, and what to show. */
  #glimpse(serving) {
    const [first] = this.outbox.items;
    const question = serving.question;
    if (!question || question.lease !== first.body.lease) return;
    if (first.print !== print(question)) {
      // The same lease now asks something else: an answer to the old question must not stand for the new one.
      this.lost += this.outbox.drop((item) => item.body.lease === question.lease && item.path === "answers");
      this.view.note(t("The question had changed, so your last answer was not counted. Here is the new one."));
      if (this.outbox.items.length === 0) this.#accept(serving);
    } else if (this.shown === null && this.outbox.items.length === 1 && first.path === "answers" && serving.ahead) {
      this.#show(first.body.answer ? serving.ahead.yes : serving.ahead.no, null);
    }
  }

  #refused(item, error) {
    this.#past.delete(item.body.id);
    if (item.path === "answers" || item.path === "bags") this.lost += item.body.answers?.length ?? 1;
    if (error.code === "lease_lost") {
      this.view.note(t("That question had gone to somebody else in the meantime, so this one was not counted."));
    } else {
      this.view.note(told(error));
    }
    this.view.progress();
    if (this.outbox.items.length === 0) this.refresh();
  }

  #fail(error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) {
      toLogin();
      return;
    }
    this.#stopped = true;
    this.shown = null;
    this.leases.hold([]);
    this.view.screen("barred", told(error));
  }

  // ---- the screen ----

  #show(question, ahead, switched = false) {
    clearTimeout(this.#poll);
    this.shown = question;
    this.#open = performance.now() + (switched ? GUARD_AFTER_SWITCH : GUARD);
    this.#bags = question.bag ? [new Bag(question.bag.length)] : [];
    this.view.show(question, { switched, bag: this.bag });
    this.#hold(question, ahead);
    this.view.progress();
  }

  #hold(question, ahead) {
    this.shown = question;
    this.#ahead = ahead;
    this.leases.hold([...(question.bag ?? [question]), ahead?.yes, ahead?.no]);
    this.view.prefetch([ahead?.yes, ahead?.no]);
  }

  /** Nothing to show until the server speaks. */
  #await() {
    this.shown = null;
    this.#ahead = null;
    this.#bags = [];
    this.view.screen(this.outbox.state === "unsaved" ? "offline" : "loading");
    this.view.progress();
  }

  #changed() {
    this.view.saved(this.outbox.state, this.outbox.items.length);
    if (this.shown === null && this.outbox.state === "unsaved") this.view.screen("offline");
    this.view.progress();
  }

  #pollLater(state) {
    const seconds = (POLL[state] ?? 30) * (0.85 + 0.3 * Math.random());
    this.#poll = setTimeout(() => {
      if (document.visibilityState === "visible") this.refresh();
      else this.#pollLater(state);
    }, seconds * 1000);
  }
}
