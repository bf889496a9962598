// Questions to the manager before something is done, and secrets that are shown once.

import { el, freshId, show, toast } from "./dom.js";
import { bad, field, text, words } from "./fields.js";

/**
 * Asks before something is done. `run` does it; the dialog stays open with the error when that fails, and is gone from
 * the page when it closes. `typed`: a word that must be typed first; `fields`: what else is to be filled in.
 */
export function confirm({ title, say, fields = [], button, danger = false, typed = null, run }) {
  const trouble = el("div");
  const go = el("button", { type: "submit", class: danger ? "button danger" : "button primary", disabled: typed !== null }, button);
  const word = typed === null ? null : field({ label: `Type ${typed} to confirm` }, text("", (value) => { go.disabled = value !== typed; }, { spellcheck: "false" }));
  const form = el("form", { class: "stack" }, ...[say].flat().map((part) => el("p", {}, part)), ...fields, word, trouble,
    el("div", { class: "line end" }, el("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, "Cancel"), go));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    try {
      await run();
      dialog.close();
    } catch (error) {
      show(trouble, bad(words(error)));
      go.disabled = false;
    }
  });
  const id = freshId("dialog");
  const dialog = el("dialog", { "aria-labelledby": id }, el("div", { class: "stack" }, el("h2", { id }, title), form));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Something to look at over the page; `closed()` is called when it is closed. */
export function opened(title, content, closed = () => {}) {
  const id = freshId("dialog");
  const dialog = el("dialog", { class: "large", "aria-labelledby": id }, el("div", { class: "stack" },
    el("div", { class: "line between" }, el("h2", { id }, title), el("button", { type: "button", class: "button small", onclick: () => dialog.close() }, "Close")), content));
  dialog.addEventListener("close", () => {
    dialog.remove();
    closed();
  });
  document.body.append(dialog);
  dialog.showModal();
}

/** Copies text; where the browser forbids it, the text is selected for copying by hand. */
export async function copy(value, control) {
  try {
    await navigator.clipboard.writeText(value);
    toast("Copied");
  } catch {
    control?.select?.();
    toast("Press Ctrl+C to copy");
  }
}

/** A value in a box with a button that copies it. */
export function copyable(label, value) {
  const box = text(value, () => {}, { readonly: true, class: "mono", onfocus: (event) => event.target.select() });
  const row = field({ label }, box);
  const pair = el("div", { class: "copyable" });
  box.replaceWith(pair);
  pair.append(box, el("button", { type: "button", class: "button", onclick: () => copy(value, box), "aria-label": `Copy: ${label}` }, "Copy"));
  return row;
}
