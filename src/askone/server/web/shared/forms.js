// What the forms share: problems told beside their fields, one send at a time, waits that the server asks for.

import { ApiError } from "./api.js";
import { byId } from "./dom.js";

function tell(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = text === "";
}

/** Marks a field and moves the focus to it; false where the form has no such field. */
function tellField(name, text) {
  const field = byId(name);
  const place = byId(`${name}-error`);
  if (!field || !place) return false;
  place.textContent = text;
  field.setAttribute("aria-invalid", "true");
  const described = new Set((field.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean)).add(place.id);
  field.setAttribute("aria-describedby", [...described].join(" "));
  field.focus();
  return true;
}

function clear(form) {
  tell("");
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    byId(`${field.id}-error`).textContent = "";
  }
}

/** Required fields that are empty: the last one told is the first on the page, so that it has the focus. */
function complete(form) {
  const empty = [...form.elements].filter((field) => field.required && !field.closest("[hidden]") && field.value.trim() === "");
  for (const field of empty.reverse()) tellField(field.id, "Please fill this in.");
  return empty.length === 0;
}

/** Counts down on the button, so that nobody knocks in vain. */
function hold(button, seconds) {
  const words = button.textContent;
  const until = Date.now() + seconds * 1000;
  button.disabled = true;
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    button.textContent = left > 0 ? `${words} (in ${left} s)` : words;
    button.disabled = left > 0;
    if (left > 0) setTimeout(tick, 500);
  };
  tick();
}

/** send() does the work; what it throws is told. explain(error) may word it, or return null. */
export function onSubmit(form, send, explain = () => null) {
  const button = form.querySelector("[type=submit]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clear(form);
    if (button.disabled || !complete(form)) return;
    button.disabled = true;
    try {
      await send();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const words = explain(error) ?? error.message;
      const name = error.argument?.split(".").at(-1);
      if (!name || !tellField(name, words)) tell(words);
      if (error.retryAfter) {
        hold(button, error.retryAfter);
        return;
      }
    }
    button.disabled = false;
  });
}

export function revealing(box, field) {
  box.addEventListener("change", () => {
    field.type = box.checked ? "text" : "password";
  });
}
