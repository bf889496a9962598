// A picture looked at closely: by wheel, two fingers, buttons or keys it grows; dragged or by arrow keys it moves.

import { el } from "../shared/dom.js";
import { t } from "../shared/language.js";

const MOST = 20;
const STEP = 1.5;
const MOVE = 60; // pixels for an arrow key

class Closer {
  #scale = 1;
  #at = [0, 0];
  #fingers = new Map();

  constructor(stage, image) {
    Object.assign(this, { stage, image });
    stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.grow(Math.exp(-event.deltaY / 400), [event.clientX, event.clientY]);
    }, { passive: false });
    stage.addEventListener("pointerdown", (event) => {
      stage.setPointerCapture(event.pointerId);
      this.#fingers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    stage.addEventListener("pointermove", (event) => this.#drag(event));
    for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => this.#fingers.delete(event.pointerId));
    stage.addEventListener("dblclick", (event) => (this.#scale > 1 ? this.reset() : this.grow(3, [event.clientX, event.clientY])));
  }

  reset() {
    [this.#scale, this.#at] = [1, [0, 0]];
    this.#draw();
  }

  /** By this factor; what lies at `point` of the screen stays there. */
  grow(factor, point = null) {
    const box = this.stage.getBoundingClientRect();
    const middle = [box.left + box.width / 2, box.top + box.height / 2];
    const scale = Math.min(MOST, Math.max(1, this.#scale * factor));
    const share = scale / this.#scale;
    this.#at = this.#at.map((at, i) => (at - ((point ?? middle)[i] - middle[i])) * share + ((point ?? middle)[i] - middle[i]));
    this.#scale = scale;
    this.#draw();
  }

  move(dx, dy) {
    this.#at = [this.#at[0] + dx, this.#at[1] + dy];
    this.#draw();
  }

  #drag(event) {
    const before = this.#fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const other = [...this.#fingers].find(([id]) => id !== event.pointerId)?.[1];
    const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
    if (other) this.grow(apart(now) / Math.max(1, apart(before)), other);
    else this.move(now[0] - before[0], now[1] - before[1]);
    this.#fingers.set(event.pointerId, now);
  }

  /** No farther than that the middle of the screen shows the picture. */
  #draw() {
    const most = [this.stage.clientWidth, this.stage.clientHeight].map((size) => ((this.#scale - 1) * size) / 2);
    this.#at = this.#at.map((at, i) => Math.max(-most[i], Math.min(most[i], at)));
    this.image.style.transform = `translate(${this.#at[0]}px, ${this.#at[1]}px) scale(${this.#scale})`;
  }
}

/** Shows a picture over the whole page. */
export function lookCloser(source) {
  const image = el("img", { src: source.src, alt: source.alt, draggable: "false", class: source.className || null });
  const stage = el("div", { class: "zoom-stage" }, image);
  const closer = new Closer(stage, image);
  const button = (words, name, run) => el("button", { type: "button", class: "button", "aria-label": name, onclick: run }, words);
  const dialog = el("dialog", { class: "zoom", "aria-label": t("The picture, enlarged") }, stage,
    el("div", { class: "line zoom-tools" },
      button("−", t("Smaller"), () => closer.grow(1 / STEP)), button("+", t("Larger"), () => closer.grow(STEP)),
      button(t("Whole picture"), t("Whole picture"), () => closer.reset()),
      el("button", { type: "button", class: "button primary", autofocus: true, onclick: () => dialog.close() }, t("Close"))));
  const keys = {
    "+": () => closer.grow(STEP), "=": () => closer.grow(STEP), "-": () => closer.grow(1 / STEP), 0: () => closer.reset(),
    ArrowLeft: () => closer.move(MOVE, 0), ArrowRight: () => closer.move(-MOVE, 0), ArrowUp: () => closer.move(0, MOVE), ArrowDown: () => closer.move(0, -MOVE),
  };
  dialog.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
