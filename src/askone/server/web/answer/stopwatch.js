// Time that a person spends looking: neither a hidden tab nor a lunch counts.

const BREAK = 20 * 60;
const IDLE = 3 * 60;

const visible = () => document.visibilityState === "visible";

/** Seconds since start(), without the time that the page was hidden. */
export class Stopwatch {
  #spent = 0;
  #since = null;

  constructor() {
    document.addEventListener("visibilitychange", () => {
      if (this.#since === null) return;
      if (visible()) this.#since = performance.now();
      else this.#spent += performance.now() - this.#since;
    });
  }

  start() {
    this.#spent = 0;
    this.#since = performance.now();
  }

  get seconds() {
    if (this.#since === null) return 0;
    return (this.#spent + (visible() ? performance.now() - this.#since : 0)) / 1000;
  }
}

/** Says when somebody has answered for twenty minutes without a pause of three. */
export class Shift {
  #began = null;
  #last = null;
  #told = null;

  constructor(tired) {
    this.tired = tired;
  }

  /** Call it at each answer. */
  answered(now = performance.now() / 1000) {
    if (this.#last === null || now - this.#last > IDLE) this.rested(now);
    this.#last = now;
    if (now - this.#told > BREAK) {
      this.#told = now;
      this.tired();
    }
  }

  rested(now = performance.now() / 1000) {
    this.#told = now;
    this.#began ??= now;
  }

  /** Whole minutes since the first answer. */
  get minutes() {
    return this.#began === null ? 0 : Math.floor((performance.now() / 1000 - this.#began) / 60);
  }
}
