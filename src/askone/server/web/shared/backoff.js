// How long to wait before trying again.

const FIRST = 700;
const LONGEST = 20_000;

/** Waits that double, up to a limit, with some chance in them so that a hundred pages do not knock in step. */
export class Patience {
  #failures = 0;
  #wake = null;

  constructor() {
    // The network is back: no need to wait the rest, unless the server itself asked for it.
    window.addEventListener("online", () => this.#wake?.());
  }

  get failing() {
    return this.#failures > 0;
  }

  reset() {
    this.#failures = 0;
  }

  /** Resolves when it is time to try again after this error. Retry-After is obeyed to the end. */
  async after(error) {
    const wait = Math.min(LONGEST, FIRST * 2 ** this.#failures) * (0.75 + 0.5 * Math.random());
    this.#failures += 1;
    const asked = (error.retryAfter ?? 0) * 1000;
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(wait, asked));
      if (asked === 0) this.#wake = resolve;
    });
    this.#wake = null;
  }
}

/** Calls until it works; what cannot pass by waiting is thrown. told(error) hears of each failure. */
export async function insist(call, told = () => {}) {
  const patience = new Patience();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!error.passing) throw error;
      told(error);
      await patience.after(error);
    }
  }
}
