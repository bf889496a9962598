// The forms by which people come in: problems told beside their fields, one send at a time, waits that the server asks for.

import { ApiError } from "./api.js";
import { byId, el, show } from "./dom.js";
import { t, tn, told } from "./language.js";
import { check, clearErrors, field, showError, text } from "./fields.js";

/** A field; its id is what the server calls it. */
export const entry = (id, label, attributes = {}, hint = "") =>
  field({ label, hint, path: id }, text("", () => {}, { id, name: id, maxlength: "100", ...attributes }));

/** A secret that is in the link, or else is asked for. */
export const secretEntry = (id, label, hint) => entry(id, label, { autocapitalize: "none", spellcheck: "false", maxlength: "500" }, hint);

/** A name, a password and a box that shows it. */
export function credentials(autocomplete, hint = "") {
  const name = entry("name", t("Name"), { autocomplete: "username", autocapitalize: "none", spellcheck: "false", required: true });
  const password = entry("password", t("Password"), { type: "password", autocomplete, required: true, maxlength: "1000" }, hint);
  return [name, password, check(t("Show the password"), false, (on) => { password.querySelector("input").type = on ? "text" : "password"; })];
}

/** Fills the page with what needs little room. */
export function narrow(...content) {
  const main = byId("main");
  main.classList.add("narrow");
  main.removeAttribute("aria-busy");
  show(main, ...content);
}

/** Counts down on the button, so that nobody knocks in vain. */
function hold(button, seconds) {
  const words = button.textContent;
  const until = Date.now() + seconds * 1000;
  button.disabled = true;
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    button.textContent = left > 0 ? tn("{words} (in {n} s)", "{words} (in {n} s)", left, { words }) : words;
    button.disabled = left > 0;
    if (left > 0) setTimeout(tick, 500);
  };
  tick();
}

/** A page with a form. send() does the work; what it throws is told. explain(error) may word it, or return null. */
export function formPage({ title, lead, fields, submit, note = null, send, explain }) {
  const problem = el("div", { class: "notice bad", id: "problem", role: "alert", hidden: true });
  const button = el("button", { class: "button primary wide", id: "submit", type: "submit" }, submit);
  const form = el("form", { class: "card stack", novalidate: true }, el("h1", {}, title), lead, problem, ...fields, button, note);
  const tell = (name, words) => {
    if (showError(form, name, words)) form.querySelector("[aria-invalid]").focus();
    else problem.textContent = words;
    problem.hidden = problem.textContent === "";
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form);
    problem.textContent = "";
    problem.hidden = true;
    const empty = [...form.elements].filter((one) => one.required && !one.closest("[hidden]") && one.value.trim() === "");
    for (const one of empty) tell(one.id, t("Please fill this in."));
    if (button.disabled || empty.length) return;
    button.disabled = true;
    try {
      await send();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      tell(error.argument?.split(".").at(-1), explain(error) ?? told(error));
      if (error.retryAfter) {
        hold(button, error.retryAfter);
        return;
      }
    }
    button.disabled = false;
  });
  narrow(form);
}
