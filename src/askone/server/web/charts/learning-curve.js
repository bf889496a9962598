// The learning curve: how far off the model is, as measured on answers alone, against the number of answers.

import { s } from "../shared/dom.js";
import { band, extent, frame, line } from "./marks.js";
import { count, percent, plural, rounded, withUnit } from "../shared/format.js";

const isShare = (measure, unit) => !unit && /share|agree|right/.test(measure);

const WIDE = 0.1; // a band of shares: no digit behind the point means anything

/** How values of this measure are written; `width` is that of the band around them. */
export function writer(measure, unit, width = 0) {
  if (isShare(measure, unit)) return (value) => percent(value, value > 0.9 && value < 0.9995 && width < WIDE ? 1 : 0);
  return (value) => withUnit(rounded(value), unit);
}

/** "84 % to 88 %", "73 to 172 EUR". */
export function interval(low, high, measure, unit) {
  const write = writer(measure, unit, high - low);
  if (isShare(measure, unit)) return `${write(low)} to ${write(high)}`;
  return withUnit(`${rounded(low)} to ${rounded(high)}`, unit);
}

/** What errors beyond a window may add, which few questions were about. */
function larger({ window, beyond }, write) {
  if (window === null || window === undefined) return "";
  const more = beyond === null ? "nobody was asked about larger ones yet" : `larger ones may add up to ${write(beyond)}`;
  return `; errors count up to ${write(window)}, ${more}`;
}

/** The error as a headline and a note. A number's band that begins at 0 has its end alone: its middle may be next to nothing by chance. */
export function headline({ value, low, high, ...rest }, measure, unit) {
  const write = writer(measure, unit, high - low);
  if (isShare(measure, unit) || low > 0) return [write(value), interval(low, high, measure, unit) + larger(rest, write)];
  return [`at most ${write(high)}`, `in 95 of 100 cases${larger(rest, write)}`];
}

export const heightOfCurve = (width) => Math.round(Math.min(380, Math.max(240, width * 0.52)));

/** `data`: {measure, unit, points: [{n, value, low, high}], ahead: the same, expected later}. */
export function drawCurve({ measure, unit, points, ahead = [], target = null }, width, { log = false, height = null }) {
  if (!points.length && !ahead.length) return null;
  const all = [...points, ...ahead];
  const share = isShare(measure, unit);
  const ns = all.map((point) => point.n);
  const least = Math.max(1, Math.min(...ns));
  // What lies ahead is far less sure than what was measured: its band may leave the picture.
  const values = [...points.flatMap((p) => [p.value, p.low, p.high]), ...ahead.map((p) => p.value), ...(points.length ? [] : ahead.flatMap((p) => [p.low, p.high])), ...(target === null ? [] : [target])];
  const [low, high] = extent(values, { zero: !share });
  const write = writer(measure, unit);
  const { svg, box, x, y } = frame({
    width, height: height ?? heightOfCurve(width), right: 20, top: 34,
    x: { domain: log ? [least, Math.max(least * 2, ...ns)] : [0, Math.max(...ns, 1)], log, label: "answers", format: count },
    y: { domain: share ? [Math.max(0, low), Math.min(1, high)] : [low, high], label: withUnit(measure, unit && `(${unit})`), format: share ? (v) => percent(v) : undefined },
  });
  const place = (key) => (point) => [x(point.n), Math.max(box.top, Math.min(box.bottom, y(point[key])))];
  for (const [part, kind] of [[ahead, "ahead"], [points, "main"]])
    if (part.length > 1) svg.append(band(part.map(place("high")), part.map(place("low")), kind));
  if (points.length === 1) svg.append(band(...["high", "low"].map((key) => [-5, 5].map((aside) => [x(points[0].n) + aside, place(key)(points[0])[1]])), "main"));
  if (ahead.length > 1) svg.append(line(ahead.map(place("value")), "ahead"));
  if (target !== null && target >= y.domain[0] && target <= y.domain[1]) svg.append(...targetLine(y(target), box, write(target)));
  if (points.length) {
    const last = points.at(-1);
    const [words] = headline(last, measure, unit);
    const [, told] = place(words.startsWith("at most") ? "high" : "value")(last); // the height that the words are about
    const lines = [points, ahead].flatMap((part) => sampled(part.map(place("value"))));
    svg.append(line(points.map(place("value")), "main"), s("circle", { class: "end", cx: x(last.n), cy: y(last.value), r: 5 }), endLabel([x(last.n), told], box, words, lines));
  }
  const text = (point) => {
    const [value, note] = headline(point, measure, unit);
    return `${plural(point.n, "answer")}: ${measure} ${value} (${note})`;
  };
  return { svg, box, rest: Math.max(0, points.length - 1), stops: [...points.map((p) => ({ x: x(p.n), y: y(p.value), text: text(p) })), ...ahead.map((p) => ({ x: x(p.n), y: y(p.value), text: `expected at ${text(p)}` }))] };
}

const targetLine = (y, box, words) => [
  s("line", { class: "plot-target", x1: box.left, x2: box.right, y1: y, y2: y }),
  s("text", { class: "plot-tick", x: box.left + 4, y: y - 5 }, `stop at ${words}`),
];

/** Places on a line, close to each other. */
const sampled = (places) => places.flatMap(([x, y], i) => {
  const [to, height] = places[i + 1] ?? [x, y];
  const steps = Math.max(1, Math.ceil(Math.abs(to - x) / 4));
  return Array.from({ length: steps }, (_, k) => [x + ((to - x) * k) / steps, y + ((height - y) * k) / steps]);
});

/** What the last point says, where no line strikes it through: above it, below it, or above or below all that is drawn there. */
function endLabel([px, py], box, words, lines) {
  const half = 4 + 4.5 * words.length;
  const x = Math.max(box.left + half, Math.min(box.right - half, px));
  const heights = lines.filter(([at]) => Math.abs(at - x) < half + 6).map(([, height]) => height);
  const free = (at) => at > box.top && at < box.bottom - 4 && heights.every((height) => height < at - 18 || height > at + 6);
  const y = [py - 14, py + 24, Math.min(...heights) - 14, Math.max(...heights) + 24].find(free) ?? py - 14;
  return s("text", { class: "end-label", x, y, "text-anchor": "middle" }, words);
}

export function tableOfCurve({ measure, unit, points, ahead = [] }) {
  const name = withUnit(measure, unit && `(${unit})`);
  const rows = [...points, ...ahead].map((p) => [p.n, p.value, p.low, p.high].map((value) => Number(value.toPrecision(6))));
  return { head: ["answers", name, "low", "high"], rows };
}
