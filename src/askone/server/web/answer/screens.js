// What stands on the page when there is no question.

import { el, icon } from "../shared/dom.js";
import { t } from "../shared/language.js";

// name: [icon, title, text, whether it is only a short wait]
const SCREENS = () => ({
  loading: ["spinner", t("Just a moment"), "", true],
  resuming: ["spinner", t("Sending your earlier answers"), t("They had not reached the server when this page was left.")],
  offline: ["unsaved", t("No connection"), t("Your answers are kept on this device and are sent by themselves once the server can be reached.")],
  unreachable: ["unsaved", t("The server cannot be reached"), t("This page keeps trying.")],
  waiting: ["saving", t("Waiting for a question"), t("Others hold the open questions right now. The next one appears here by itself.")],
  paused: ["saving", t("The campaign is paused"), t("It goes on here by itself once its manager resumes it.")],
  closed: ["saved", t("The campaign is closed"), t("No more answers are needed. Thank you for yours.")],
  spent: ["saved", t("All questions are answered"), t("The campaign has used its budget of questions. Thank you for your answers.")],
  resting: ["saved", t("A pause for you"), t("Thank you: your answers are kept. By an automatic rule you are asked no more for now. If something was unclear, speak to whoever invited you. They can let you go on, and then it goes on here by itself.")],
  done: ["saved", t("You are done"), t("There is no question left for you here. Thank you for your answers.")],
  barred: ["no", t("This campaign is not open to you"), t("The invitation may have been withdrawn, or you are signed in under another name.")],
});
const CALM = ["waiting", "paused", "closed", "spent", "resting", "done", "barred"];

export class Screens {
  #name = null;
  #timer = null;

  constructor(section) {
    this.section = section;
    [this.icon, this.title, this.text, this.actions] = ["icon", "title", "text", "actions"].map((part) =>
      section.querySelector(`#screen-${part}`));
  }

  get name() {
    return this.#name;
  }

  /** True where the screen is new. A short wait is left blank at first: most answers come before an eye has seen it. */
  show(name, words = "") {
    if (name === this.#name) return false;
    clearTimeout(this.#timer);
    const [sign, title, text, brief] = SCREENS()[name] ?? SCREENS().loading;
    this.#name = name;
    this.icon.replaceChildren(sign === "spinner" ? el("div", { class: "spinner" }) : icon(sign));
    this.title.textContent = title;
    this.text.textContent = words || text;
    this.actions.replaceChildren(...(CALM.includes(name) ? [el("a", { class: "button", href: "/" }, t("All campaigns"))] : []));
    this.section.dataset.name = name;
    this.section.hidden = false;
    this.section.classList.toggle("unseen", Boolean(brief));
    if (brief) this.#timer = setTimeout(() => this.section.classList.remove("unseen"), 250);
    return true;
  }

  /** The same in another language. */
  redraw() {
    const name = this.#name;
    this.#name = null;
    if (name) this.show(name);
  }

  hide() {
    clearTimeout(this.#timer);
    this.#name = null;
    this.section.hidden = true;
  }
}
