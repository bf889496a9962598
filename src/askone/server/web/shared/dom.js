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
  open: ["M10 6H6v12h12v-4", "M13.5 5H19v5.5", "M19 5l-8 8"],
  sun: ["M12 8a4 4 0 110 8 4 4 0 010-8z", "M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4"],
  moon: ["M20 14.2A8 8 0 019.8 4a8 8 0 1010.2 10.2z"],
  person: ["M12 4a4 4 0 110 8 4 4 0 010-8z", "M4.5 20.5c1-4 4-5.5 7.5-5.5s6.500 1.500 7.500 5.500"],
};

/** An icon beside words: hidden from screen readers. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 24 24", width: "24", height: "24", fill: "none", stroke: "currentColor", "stroke-width": "2",
    "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true", focusable: "false",
  })) svg.setAttribute(key, value);
  for (const d of ICONS[name] ?? []) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

/**
 * el("button", {class: "button", type: "button", onclick: f, hidden: true}, "text", child, ...)
 * Attributes are set as attributes; false, null and undefined are left out; "on..." are listeners; "dataset" is merged.
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
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

/** Numbers in the reader's language. */
const plain = new Intl.NumberFormat(undefined);
export const count = (number) => plain.format(number);
