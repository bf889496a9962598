// What all charts are made of: a frame with axes, lines, bands and marks. Nothing here knows what is drawn.

import { s } from "../shared/elements.js";
import { linear, logarithmic } from "./scales.js";
import { number } from "../shared/format.js";

const CHARACTER = 6.8; // pixels that a digit of a tick takes, about

/** An empty drawing of this size. */
export const canvas = (width, height) =>
  s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart", "aria-hidden": "true", focusable: "false" });

/**
 * Axes with a quiet grid. `x` and `y` are {domain, log, label, format, ticks}; the y label stands above its axis, where
 * it is read without turning the head.
 */
export function frame({ width, height, x, y, top = 30, right = 16 }) {
  const svg = canvas(width, height);
  const bottom = x.label ? 44 : 26;
  const formatY = y.format ?? ((value) => number(value));
  const rough = (y.log ? logarithmic : linear)(...y.domain, height - bottom, top);
  const yTicks = y.ticks ?? rough.ticks(Math.max(3, Math.floor((height - top - bottom) / 40)));
  const left = 14 + CHARACTER * Math.max(2, ...yTicks.map((tick) => formatY(tick).length));
  const box = { left, right: width - right, top, bottom: height - bottom };
  const xScale = (x.log ? logarithmic : linear)(...x.domain, box.left, box.right);
  const formatX = x.format ?? ((value) => number(value));
  const xTicks = x.ticks ?? xScale.ticks(Math.max(3, Math.floor((box.right - box.left) / 80)));
  for (const tick of yTicks) {
    const at = rough(tick);
    svg.append(
      s("line", { class: "plot-grid", x1: box.left, x2: box.right, y1: at, y2: at }),
      s("text", { class: "plot-tick", x: box.left - 8, y: at + 4, "text-anchor": "end" }, formatY(tick)),
    );
  }
  svg.append(s("line", { class: "plot-axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  for (const tick of xTicks) {
    const at = xScale(tick);
    svg.append(
      s("line", { class: "plot-axis", x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4 }),
      s("text", { class: "plot-tick", x: at, y: box.bottom + 18, "text-anchor": "middle" }, formatX(tick)),
    );
  }
  if (y.label) svg.append(s("text", { class: "plot-label", x: 2, y: 14 }, y.label));
  if (x.label) svg.append(s("text", { class: "plot-label", x: box.right, y: height - 6, "text-anchor": "end" }, x.label));
  return { svg, box, x: xScale, y: rough };
}

const step = ([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`;

/** A line through points in pixels. */
export const line = (points, kind) => s("path", { class: `plot-line ${kind}`, d: points.map(step).join("") });

/** The ground between two lines. */
export const band = (upper, lower, kind) =>
  s("path", { class: `band ${kind}`, d: `${[...upper, ...[...lower].reverse()].map(step).join("")}Z` });

/** Discs, as one path: thousands of them cost no more than a line. */
export const discs = (points, radius, kind) =>
  s("path", {
    class: `marks ${kind}`,
    d: points.map(([x, y]) => `M${(x - radius).toFixed(1)},${y.toFixed(1)}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0Z`).join(""),
  });

/** Crosses, as one path. */
export const crosses = (points, radius, kind) =>
  s("path", {
    class: `marks ${kind}`,
    d: points
      .map(([x, y]) => `M${(x - radius).toFixed(1)},${(y - radius).toFixed(1)}l${2 * radius},${2 * radius}m0,${-2 * radius}l${-2 * radius},${2 * radius}`)
      .join(""),
  });

/** A legend in one line above the plot, from the right edge inwards: [[mark, text], ...]. */
export function legend(svg, right, entries, y = 14) {
  let at = right;
  for (const [mark, text] of [...entries].reverse()) {
    at -= CHARACTER * text.length + 2;
    svg.append(s("text", { class: "plot-tick", x: at, y }, text));
    at -= 16;
    svg.append(mark([at + 6, y - 4]));
    at -= 12;
  }
}
