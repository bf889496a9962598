// Small helpers to build pages. Text always goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

// 24 x 24, drawn with strokes.
const ICONS = {
  yes: ["M5 12.5l4.5 4.5L19 7.5"],
  no: ["M6.5 6.5l11 11", "M17.5 6.5l-11 11"],
  left: ["M19 12H5", "M11 6l-6 6 6 6"],
  right: ["M5 12h14", "M13 6l6 6-6 6"],
  undo: ["M9 6L4.5 10.5 9 15", "M5 10.5h9a5 5 0 015 5v2.5"],
  skip: ["M6 6l7 6-7 6z", "M18 6v12"],
  unsure: ["M9 9.3a3.1 3.1 0 116 .4c0 2-3 2.4-3 4.3", "M12 17.6v.4"],
  flag: ["M6 21V4", "M6 5h11l-2 3.7 2 3.8H6"],
  help: ["M12 11v6", "M12 7.4v.3", "M12 3a9 9 0 110 18 9 9 0 010-18z"],
  saved: ["M12 3a9 9 0 110 18 9 9 0 010-18z", "M8.3 12.3l2.6 2.6 4.9-5.3"],
  saving: ["M12 3a9 9 0 110 18 9 9 0 010-18z", "M12 7.5V12l3 2"],
  unsaved: ["M12 4L2.8 19.5h18.4z", "M12 10v4.5", "M12 17v.3"],
  closer: ["M10.5 4a6.500 6.500 0 110 13 6.500 6.500 0 010-13z", "M15.500 15.500L20 20", "M10.500 8v5M8 10.500h5"],
  open: ["M10 6H6v12h12v-4", "M13.5 5H19v5.5", "M19 5l-8 8"],
  sun: ["M12 8a4 4 0 110 8 4 4 0 010-8z", "M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4"],
  moon: ["M20 14.2A8 8 0 019.8 4a8 8 0 1010.2 10.2z"],
};

const kept = (children) => children.flat().filter((child) => child !== null && child !== undefined && child !== false);

/**
 * el("button", {class: "button", type: "button", onclick: f, hidden: true}, "text", child, ...)
 * Attributes are set as attributes; false, null and undefined are left out; "on..." are listeners; "dataset" is merged.
 */
export const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);

/** An element of a drawing: s("circle", {r: 4}). */
export const s = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

function filled(node, attributes = {}, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...kept(children));
  return node;
}

/** An icon beside words: hidden from screen readers. */
export const icon = (name, kind = null) => s("svg", {
  class: kind, viewBox: "0 0 24 24", width: "24", height: "24", fill: "none", stroke: "currentColor", "stroke-width": "2",
  "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true", focusable: "false",
}, (ICONS[name] ?? []).map((d) => s("path", { d })));

/** Puts the children in place of what was there. */
export function show(parent, ...children) {
  parent.replaceChildren(...kept(children));
  return parent;
}

export const byId = (id) => document.getElementById(id);

/** A message that goes by itself; polite to screen readers. */
export function toast(text, seconds = 5) {
  let region = document.querySelector(".toasts");
  if (!region) {
    region = el("div", { class: "toasts", role: "status", "aria-live": "polite" });
    document.body.append(region);
  }
  const message = el("div", { class: "toast" }, text);
  region.append(message);
  setTimeout(() => message.remove(), seconds * 1000);
}

const TINY = 128; // pixels

/** Keeps the pixels of a small picture sharp where it is enlarged. */
export function sharp(picture) {
  picture.addEventListener("load", () => picture.classList.toggle("tiny", Math.max(picture.naturalWidth, picture.naturalHeight) <= TINY));
  return picture;
}

/** Calls f once, `wait` milliseconds after the last call. */
export function debounced(f, wait) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...values), wait);
  };
}

const sizes = new ResizeObserver((seen) => seen.forEach(({ target }) => {
  const box = target.closest(".scrolls");
  if (!box) return;
  const over = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
  // Only what has more than it shows is a stop for the Tab key.
  if (over) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
}));

/** Makes a box that may have more than it shows a stop for the Tab key, at once and until its size is known. */
export function scrolls(box, content = null) {
  box.classList.add("scrolls");
  box.tabIndex = 0;
  if (content) sizes.observe(content);
  sizes.observe(box);
  return box;
}

/** A box in which a wide table can be scrolled, by keys as well; `label` names it. */
export const scroller = (label, content = null) =>
  scrolls(el("div", { class: "table-scroll", role: "region", "aria-label": label }, content), content);

/** A column's head: its name, or [name, attributes, what listeners hear where there is no name]. */
function columnHead(head) {
  const [name, attributes = {}, spoken = "Change"] = [head].flat();
  return el("th", { scope: "col", ...attributes }, name || el("span", { class: "visually-hidden" }, spoken));
}

/** A table in a box of its own, see `scroller`. `rows` are <tr>. */
export const dataTable = (label, heads, rows, { caption = null, ...attributes } = {}) =>
  scroller(label, el("table", attributes, caption, el("thead", {}, el("tr", {}, heads.map(columnHead))), el("tbody", {}, rows)));

/** The same, which on a phone has a block for each row instead of a line: each cell behind the name of its column. */
export function stackedTable(label, heads, rows, { class: name = "", ...attributes } = {}) {
  const names = heads.map((head) => [head].flat()[0]);
  for (const row of rows) [...row.children].forEach((cell, i) => { if (names[i] && i) cell.dataset.head = names[i]; });
  return dataTable(label, heads, rows, { class: `stacked ${name}`.trim(), ...attributes });
}

let last = 0;
/** An id for a label and what it names. */
export const freshId = (prefix) => `${prefix}-${++last}`;
