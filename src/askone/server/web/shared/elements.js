// Elements beside dom.js, for pages that draw: SVG, content that is exchanged, waiting for a pause. Texts go in as text only.

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
export function scroller(label, content = null) {
  const box = document.createElement("div");
  for (const [name, value] of Object.entries({ class: "table-scroll", role: "region", "aria-label": label })) box.setAttribute(name, value);
  if (content) box.append(content);
  return scrolls(box, content);
}

let last = 0;
/** An id for a label and what it names. */
export const freshId = (prefix) => `${prefix}-${++last}`;
