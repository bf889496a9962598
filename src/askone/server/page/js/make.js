// What dom.js leaves out: drawings, exchanging what is shown, waiting for a pause. Texts go in as text only.

const SVG = "http://www.w3.org/2000/svg";
const kept = (children) => children.flat().filter((child) => child !== null && child !== undefined && child !== false);

/** An element of a drawing: s("circle", {r: 4}). */
export function s(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, String(value));
  node.append(...kept(children));
  return node;
}

/** Puts the children in place of what was there. */
export function show(parent, ...children) {
  parent.replaceChildren(...kept(children));
  return parent;
}

/** Calls f once, `wait` milliseconds after the last call. */
export function debounced(f, wait) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...values), wait);
  };
}

let last = 0;
/** An id for a label and what it names. */
export const freshId = (prefix) => `${prefix}-${++last}`;
