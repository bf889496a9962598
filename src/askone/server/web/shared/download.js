// A chart as a file: what is seen on the screen, with its colours written into it.

import { el, s } from "./dom.js";

const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "paint-order",
];

/** The SVG as text that stands alone: style sheets are replaced by attributes, helpers for the pointer are left out. */
export function standalone(svg, title) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value && original !== svg) copies[i].setAttribute(name, value);
    }
    copies[i].removeAttribute("class");
  });
  copy.querySelectorAll("[data-helper]").forEach((node) => node.remove());
  const { width, height } = svg.viewBox.baseVal;
  copy.prepend(s("title", {}, title), s("rect", { width, height, fill: groundOf(svg) }));
  for (const [name, value] of Object.entries({ width, height, xmlns: svg.namespaceURI })) copy.setAttribute(name, value);
  return new XMLSerializer().serializeToString(copy);
}

function groundOf(element) {
  for (let node = element; node; node = node.parentElement) {
    const colour = getComputedStyle(node).backgroundColor;
    if (colour && colour !== "transparent" && colour !== "rgba(0, 0, 0, 0)") return colour;
  }
  return "white";
}

/** Offers bytes or text as a file. */
export function saveAs(content, type, name) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const fileName = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "chart";

export function saveSvg(svg, title) {
  saveAs(standalone(svg, title), "image/svg+xml", `${fileName(title)}.svg`);
}

/** A picture three times as fine as the screen's: sharp on a slide. */
export async function savePng(svg, title, scale = 3) {
  const address = URL.createObjectURL(new Blob([standalone(svg, title)], { type: "image/svg+xml" }));
  try {
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    const { width, height } = svg.viewBox.baseVal;
    const canvas = Object.assign(document.createElement("canvas"), { width: width * scale, height: height * scale });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    const bytes = await new Promise((done) => canvas.toBlob(done, "image/png"));
    saveAs(bytes, "image/png", `${fileName(title)}.png`);
  } finally {
    URL.revokeObjectURL(address);
  }
}
