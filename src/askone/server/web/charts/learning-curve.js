// The learning curve: how far off the model is, as measured on answers alone, against the number of answers.

import { s } from "../shared/dom.js";
import { band, extent, frame, line } from "./marks.js";
import { count, percent, plural, rounded, withUnit } from "../shared/format.js";

const isShare = (measure, unit) => !unit && /share|agree|right/.test(measure);

/** How values of this measure are written. */
export function writer(measure, unit) {
  if (isShare(measure, unit)) return (value) => percent(value, value > 0.9 && value < 0.9995 ? 1 : 0);
  return (value) => withUnit(rounded(value), unit);
}

/** "84 % to 88 %", "73 to 172 EUR". */
export function interval(low, high, measure, unit) {
  if (isShare(measure, unit)) return `${writer(measure, unit)(low)} to ${writer(measure, unit)(high)}`;
  return withUnit(`${rounded(low)} to ${rounded(high)}`, unit);
}

/** The error as a headline and a note. A number's band that begins at 0 has its end alone: its middle may be next to nothing by chance. */
export function headline({ value, low, high }, measure, unit) {
  const write = writer(measure, unit);
  if (isShare(measure, unit) || low > 0) return [write(value), interval(low, high, measure, unit)];
  return [`at most ${write(high)}`, "in 95 of 100 cases"];
}

/** `data`: {measure, unit, points: [{n, value, low, high}], ahead: the same, expected later}. */
export function drawCurve({ measure, unit, points, ahead = [], target = null }, width, { log = false }) {
  if (!points.length && !ahead.length) return null;
  const all = [...points, ...ahead];
  const height = Math.round(Math.min(380, Math.max(240, width * 0.52)));
  const share = isShare(measure, unit);
  const ns = all.map((point) => point.n);
  const least = Math.max(1, Math.min(...ns));
  // What lies ahead is far less sure than what was measured: its band may leave the picture.
  const values = [...points.flatMap((p) => [p.value, p.low, p.high]), ...ahead.map((p) => p.value), ...(points.length ? [] : ahead.flatMap((p) => [p.low, p.high])), ...(target === null ? [] : [target])];
  const [low, high] = extent(values, { zero: !share });
  const write = writer(measure, unit);
  const { svg, box, x, y } = frame({
    width, height, right: 20, top: 34,
    x: { domain: log ? [least, Math.max(least * 2, ...ns)] : [0, Math.max(...ns, 1)], log, label: "answers", format: count },
    y: { domain: share ? [Math.max(0, low), Math.min(1, high)] : [low, high], label: withUnit(measure, unit && `(${unit})`), format: share ? (v) => percent(v) : undefined },
  });
  const place = (key) => (point) => [x(point.n), Math.max(box.top, Math.min(box.bottom, y(point[key])))];
  for (const [part, kind] of [[ahead, "ahead"], [points, "main"]])
    if (part.length > 1) svg.append(band(part.map(place("high")), part.map(place("low")), kind));
  if (ahead.length > 1) svg.append(line(ahead.map(place("value")), "ahead"));
  if (target !== null && target >= y.domain[0] && target <= y.domain[1]) svg.append(...targetLine(y(target), box, write(target)));
  if (points.length) svg.append(line(points.map(place("value")), "main"), ...endMark(points.at(-1), x, y, box, write));
  const text = (point) => `${plural(point.n, "answer")}: ${measure} ${write(point.value)} (${interval(point.low, point.high, measure, unit)})`;
  return { svg, box, rest: Math.max(0, points.length - 1), stops: [...points.map((p) => ({ x: x(p.n), y: y(p.value), text: text(p) })), ...ahead.map((p) => ({ x: x(p.n), y: y(p.value), text: `expected at ${text(p)}` }))] };
}

const targetLine = (y, box, words) => [
  s("line", { class: "plot-target", x1: box.left, x2: box.right, y1: y, y2: y }),
  s("text", { class: "plot-tick", x: box.left + 4, y: y - 5 }, `stop at ${words}`),
];

function endMark(last, x, y, box, write) {
  const [px, py] = [x(last.n), y(last.value)];
  const words = write(last.value);
  const half = 4 + 4.5 * words.length;
  // Above the point, and below it where there is no room: beside it lies the forecast, which would strike it through.
  const above = py - 26 > box.top;
  return [
    s("circle", { class: "end", cx: px, cy: py, r: 5 }),
    s("text", { class: "end-label", x: Math.max(box.left + half, Math.min(box.right - half, px)), y: above ? py - 14 : py + 24, "text-anchor": "middle" }, words),
  ];
}

export function tableOfCurve({ measure, unit, points, ahead = [] }) {
  const name = withUnit(measure, unit && `(${unit})`);
  const rows = [...points, ...ahead].map((p) => [p.n, p.value, p.low, p.high].map((value) => Number(value.toPrecision(6))));
  return { head: ["answers", name, "low", "high"], rows };
}
