// Answer by dragging the question to a side with a finger. The label at the edge says what letting go would do.

import { isMirrored } from "../shared/language.js";

const START = 12; // pixels before a touch is a drag and not a tap or a scroll

export class Swipe {
  #from = null;
  #dragging = false;

  /** surface: where a finger may start; card: what moves; pulls: {left, right} labels; done("left" | "right"). */
  constructor(surface, card, pulls, { ready, done }) {
    Object.assign(this, { card, pulls, ready, done });
    surface.addEventListener("pointerdown", (event) => this.#begin(event));
    surface.addEventListener("pointermove", (event) => this.#move(event));
    surface.addEventListener("pointerup", (event) => this.#end(event));
    surface.addEventListener("pointercancel", () => this.#reset());
  }

  /** How far is far enough: a quarter of the screen, within reach of a thumb. */
  get #threshold() {
    return Math.min(130, Math.max(70, window.innerWidth * 0.25));
  }

  #begin(event) {
    // A mouse selects text; two fingers zoom.
    if (event.pointerType === "mouse" || !event.isPrimary || !this.ready()) return this.#reset();
    this.#from = { x: event.clientX, y: event.clientY, id: event.pointerId };
    return undefined;
  }

  #move(event) {
    if (this.#from === null || event.pointerId !== this.#from.id) return;
    const dx = event.clientX - this.#from.x;
    const dy = event.clientY - this.#from.y;
    if (!this.#dragging) {
      if (Math.abs(dy) > START && Math.abs(dy) > Math.abs(dx)) return this.#reset();
      if (Math.abs(dx) < START || Math.abs(dx) < 1.3 * Math.abs(dy)) return;
      this.#dragging = true;
      this.card.classList.add("dragged");
    }
    this.#draw(dx);
  }

  #draw(dx) {
    const share = Math.min(1, Math.abs(dx) / this.#threshold);
    this.card.style.transform = `translateX(${dx}px) rotate(${dx / 60}deg)`;
    for (const [side, label] of Object.entries(this.pulls)) {
      const on = (side === "right") === this.#towardsRight(dx);
      label.style.opacity = on ? String(0.25 + 0.75 * share) : "0";
      label.classList.toggle("enough", on && share >= 1);
    }
  }

  #end(event) {
    if (this.#from === null || event.pointerId !== this.#from.id) return;
    const dx = event.clientX - this.#from.x;
    const far = this.#dragging && Math.abs(dx) >= this.#threshold;
    this.#reset();
    if (far) this.done(this.#towardsRight(dx) ? "right" : "left");
  }

  /** Which of the two is meant: "left" and "right" are as `keys` has them. */
  #towardsRight(dx) {
    return dx > 0 !== isMirrored();
  }

  #reset() {
    this.#from = null;
    this.#dragging = false;
    this.card.classList.remove("dragged");
    this.card.style.transform = "";
    for (const label of Object.values(this.pulls)) {
      label.style.opacity = "0";
      label.classList.remove("enough");
    }
  }
}
