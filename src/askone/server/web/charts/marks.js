// What all charts are made of: a frame with axes, lines, bands and marks. Nothing here knows what is drawn.

import { s } from "../shared/dom.js";
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

/** A linear scale from [a, b] to [from, to], with ticks at round numbers. */
function linear(a, b, from, to) {
  const span = b - a || 1;
  const at = (value) => from + ((value - a) / span) * (to - from);
  at.ticks = (most) => roundTicks(a, b, most);
  at.domain = [a, b];
  return at;
}

/** A logarithmic scale: ticks at 1, 2, 5 times a power of ten where there is room. */
function logarithmic(a, b, from, to) {
  const low = Math.log(a);
  const span = Math.log(b) - low || 1;
  const at = (value) => from + ((Math.log(Math.max(value, a)) - low) / span) * (to - from);
  at.ticks = (most) => {
    for (const steps of [[1, 2, 5], [1, 3], [1]]) {
      const ticks = powers(a, b, steps);
      if (ticks.length <= most) return ticks;
    }
    return powers(a, b, [1]).filter((_, i, all) => i % Math.ceil(all.length / most) === 0);
  };
  at.domain = [a, b];
  return at;
}

function powers(a, b, steps) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(a)); 10 ** power <= b; power++)
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= a * 0.999 && tick <= b * 1.001) ticks.push(tick);
    }
  return ticks;
}

/** At most `most` round numbers within [a, b]. */
function roundTicks(a, b, most = 6) {
  if (!(b > a)) return [a];
  const raw = (b - a) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => (b - a) / m <= most) ?? 10 * power;
  const ticks = [];
  for (let k = Math.ceil(a / step - 1e-9); k * step <= b + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/** The range of the values, a little widened, from zero where zero is near. */
export function extent(values, { zero = false, margin = 0.06 } = {}) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values)
    if (Number.isFinite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (low > high) return [0, 1];
  if (low === high) {
    const room = Math.abs(low) / 2 || 1;
    [low, high] = [low - room, high + room];
  }
  const span = high - low;
  const floor = zero && low >= 0 && low < 2 * span ? 0 : low - margin * span;
  return [floor, high + margin * span];
}
