// Fields with a label, a hint and a place for their error. A field knows the path of its setting ("labels.low"), so that
// an error of the server, which names that path, is shown where it can be mended.

import { get } from "./api.js";
import { el, freshId, show } from "./dom.js";
import { inWords } from "./setting-names.js";

/** A labelled control. `path` is what the server calls it. */
export function field({ label, hint = "", path = null, wide = false }, control) {
  const id = control.id || freshId("field");
  control.id = id;
  const about = [];
  const note = hint ? el("span", { class: "hint", id: `${id}-hint` }, hint) : null;
  if (note) about.push(note.id);
  const error = el("span", { class: "error", id: `${id}-error`, role: "alert" });
  about.push(error.id);
  control.setAttribute("aria-describedby", about.join(" "));
  return el("div", { class: wide ? "field wide" : "field", dataset: path ? { path } : {} }, el("label", { for: id }, label), control, note, error);
}

export const text = (value, oninput, attributes = {}) =>
  withValue(el("input", { type: "text", autocomplete: "off", maxlength: "400", ...attributes, oninput: (event) => oninput(event.target.value) }), value);

/** A number, or null where nothing is written. */
export const numeral = (value, oninput, attributes = {}) =>
  withValue(el("input", { type: "number", step: "any", inputmode: "decimal", ...attributes, oninput: (event) => oninput(event.target.value === "" ? null : event.target.valueAsNumber) }), value ?? "");

/** A whole number, or "auto"; what is neither is for the server to refuse. */
export const peoplePerQuestion = (value, oninput) =>
  text(value ?? "", (wish) => oninput(/^\d+$/.test(wish.trim()) ? Number(wish) : wish.trim() || null), { maxlength: "4", placeholder: "1" });

export const longText = (value, oninput, attributes = {}) =>
  withValue(el("textarea", { ...attributes, oninput: (event) => oninput(event.target.value) }), value);

/** options: [[value, words], ...] */
export const choice = (value, options, onchange, attributes = {}) =>
  withValue(el("select", { ...attributes, onchange: (event) => onchange(event.target.value) }, options.map(([key, words]) => el("option", { value: key }, words))), value ?? "");

function withValue(control, value) {
  control.value = value ?? "";
  return control;
}

export function check(label, checked, onchange) {
  return el("label", { class: "check" }, el("input", { type: "checkbox", checked, onchange: (event) => onchange(event.target.checked) }), el("span", {}, label));
}

export function clearErrors(root, but = []) {
  const spared = (node) => but.includes(node.closest("[data-path]")?.dataset.path);
  for (const place of root.querySelectorAll(".error")) if (!spared(place)) place.textContent = "";
  for (const control of root.querySelectorAll("[aria-invalid]")) if (!spared(control)) control.removeAttribute("aria-invalid");
}

/** Shows the message at the field of this path, or at the nearest one above it. Whether there was one. */
export function showError(root, path, message) {
  // "labels.classes[2]" is about the field of all classes.
  for (let at = (path ?? "").replace(/\[.*$/, ""); at; at = at.includes(".") ? at.slice(0, at.lastIndexOf(".")) : "") {
    const place = [...root.querySelectorAll("[data-path]")].find((node) => node.dataset.path === at);
    if (!place) continue;
    const note = place.querySelector(".error");
    if (note) note.textContent = message;
    place.querySelector("input, select, textarea")?.setAttribute("aria-invalid", "true");
    if (place.closest("details")) place.closest("details").open = true;
    return true;
  }
  return false;
}

/** The field that a failure is about; a name that is taken is about the name. */
export const fieldOf = (error) => error.argument ?? (error.code === "name_taken" ? "name" : null);

/** The words of a failure. */
export function words(error) {
  const wait = error.retryAfter ? ` Try again in ${Math.ceil(error.retryAfter)} s.` : "";
  return `${inWords(error.message ?? error, error.argument)}${wait}`;
}

export const bad = (message) => el("p", { class: "notice bad", role: "alert" }, message);

/** Shows what draw() makes of the record at a path, or why there is none. */
export async function fill(place, path, draw) {
  try {
    show(place, draw(await get(path)));
  } catch (error) {
    show(place, bad(words(error)));
  }
}

/** Does what a form is for; a failure is shown at the field that it is about, or else in `message`. */
export async function attempt(form, message, run, place = fieldOf) {
  clearErrors(form);
  try {
    await run();
  } catch (error) {
    if (!showError(form, place(error), words(error))) show(message, bad(words(error)));
  }
}

/** A button by which a file is chosen; take(file) does something with it, and its failure is shown in `message`. */
export function chooser(id, accept, message, take, look = "button") {
  const input = el("input", { type: "file", accept, id, class: "visually-hidden", onchange: async () => {
    if (input.files[0]) await attempt(message, message, () => take(input.files[0]));
    input.value = "";
  } });
  return [input, el("label", { for: id, class: look }, "Choose a file")];
}

/** What a table may be brought in as. */
export const TABLES = ".csv,.tsv,.txt,.jsonl,.ndjson,.json,.parquet,.xlsx,.xlsm,.zip";

/** A button that works once at a time: it is off while its promise runs. */
export function action(label, run, attributes = {}) {
  const button = el("button", { type: "button", class: "button", ...attributes }, label);
  button.addEventListener("click", async () => {
    if (button.disabled) return;
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    try {
      await run(button);
    } finally {
      button.disabled = false;
      button.removeAttribute("aria-busy");
    }
  });
  return button;
}
