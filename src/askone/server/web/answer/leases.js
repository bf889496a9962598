// A question is lent for about a minute. While its page is looked at, the loan is renewed; when the page goes, the
// question goes back at once, so that nobody waits for it.

import { post } from "../shared/api.js";

export class Leases {
  #held = [];
  #timer = null;

  /** lost(): none of the leases could be renewed, somebody else has the question. */
  constructor(path, lost) {
    this.path = path;
    this.lost = lost;
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#renew();
    });
  }

  /** The questions that are held now; the earlier ones are forgotten. */
  hold(questions) {
    const held = questions.filter((question) => question);
    this.#held = [...new Set(held.map((question) => question.lease))];
    clearInterval(this.#timer);
    if (held.length === 0) return;
    const seconds = Math.min(...held.map((question) => question.expires_in ?? 60));
    this.#timer = setInterval(() => this.#renew(), Math.max(1, seconds / 3) * 1000);
  }

  async #renew() {
    if (this.#held.length === 0 || document.visibilityState !== "visible") return;
    const leases = this.#held;
    try {
      const { renewed } = await post(`${this.path}/leases/renew`, { leases });
      if (renewed === 0 && leases === this.#held) this.lost();
    } catch {
      // Without a connection the lease may run out; the server honours it as long as nobody else took the question.
    }
  }

  /** For a page that goes: keepalive lets the request outlive it. except: leases whose answers still wait. */
  release(except) {
    const leases = this.#held.filter((lease) => !except.includes(lease));
    this.hold([]);
    if (leases.length > 0) post(`${this.path}/leases/release`, { leases }, { keepalive: true }).catch(() => {});
  }
}
