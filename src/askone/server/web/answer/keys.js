// One key, one answer. Keys on the left press the button on the left, keys on the right the other one. "left" and "right"
// are the sides of a page that is read from left to right; where it is mirrored, so are these keys.

import { isMirrored, t } from "../shared/language.js";

const LEFT = ["arrowleft", "f", "1"];
const RIGHT = ["arrowright", "j", "2"];
const OTHERS = { arrowup: "up", arrowdown: "down", u: "undo", s: "skip", t: "unsure", g: "flag", h: "help", "?": "help" };
const STORED = "askone-single-keys";

/** Single keys can be switched off: speech input and shaky hands press them by accident. */
export function singleKeys() {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true;
  }
}

export function setSingleKeys(on) {
  try {
    localStorage.setItem(STORED, on ? "on" : "off");
  } catch {
    // Lasts for this page only where storage is forbidden.
  }
}

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]") !== null;

/** Which action a key means: "left", "right", "undo", ...; null for none. Y and N need a yes/no question. */
export function meaning(event, isPair) {
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && key === "z" && !event.shiftKey && !event.altKey) return "undo";
  if (event.ctrlKey || event.metaKey || event.altKey || !singleKeys()) return null;
  if (LEFT.includes(key)) return isMirrored() ? "right" : "left";
  if (RIGHT.includes(key)) return isMirrored() ? "left" : "right";
  if (!isPair && key === "y") return "right";
  if (!isPair && key === "n") return "left";
  return OTHERS[key] ?? null;
}

/** Calls act(name) for keys that are neither typed into a field nor held down nor meant for an open dialog. */
export function listen(act, isPair) {
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.defaultPrevented || typing(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const name = meaning(event, isPair());
    if (name === null) return;
    event.preventDefault();
    act(name);
  });
}

/** For the help: [what it does, its keys]. Where answers are private, nothing can be taken back or reported. */
export function keyTable(left, right, isPair, isPrivate = false) {
  const letters = isPair ? [[], []] : [["N"], ["Y"]];
  const hands = [["←", "F", "1"], ["→", "J", "2"]];
  if (isMirrored()) hands.reverse();
  return [
    [right, [...letters[1], ...hands[1]]],
    [left, [...letters[0], ...hands[0]]],
    ...(isPrivate ? [] : [[t("Undo, several back"), ["U", "Ctrl+Z"]]]),
    [t("Skip"), ["S"]],
    ...(isPrivate ? [] : [[t("Can’t tell"), ["T"]], [t("Report a problem"), ["G"]]]),
    [t("This help"), ["?", "H"]],
  ];
}
