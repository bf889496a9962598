// One key, one answer. Keys on the left press the left button, keys on the right the right one.

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
  if (LEFT.includes(key)) return "left";
  if (RIGHT.includes(key)) return "right";
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

/** For the help: [what it does, its keys]. */
export function keyTable(left, right, isPair) {
  const letters = isPair ? [[], []] : [["N"], ["Y"]];
  return [
    [right, [...letters[1], "→", "J", "2"]],
    [left, [...letters[0], "←", "F", "1"]],
    ["Undo, several back", ["U", "Ctrl+Z"]],
    ["Skip", ["S"]],
    ["Can’t tell", ["T"]],
    ["Report a problem", ["G"]],
    ["This help", ["?", "H"]],
  ];
}
