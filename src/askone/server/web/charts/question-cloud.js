// The cloud of questions: which ones were asked, and what was answered. One picture for each kind of question.

import { s } from "../shared/dom.js";
import { canvas, crosses, discs, extent, frame, legend, line } from "./marks.js";
import { count, number, plural, withUnit } from "../shared/format.js";

const yesMark = (point) => discs([point], 4, "yes");
const noMark = (point) => crosses([point], 3.4, "no");

// Where there is little room the legend stands below the name of the axis.
const narrow = (width) => width < 460;
const legendAt = (width) => (narrow(width) ? 32 : 14);

/** `data`: the dashboard's cloud with {unit, classes or items, answers: the two words} from the settings. */
export function drawCloud(data, width) {
  if (!data.points.length) return null;
  if (data.kind === "set") return drawSets(data, width);
  return data.kind === "pair" ? drawPairs(data, width) : drawThresholds(data, width);
}

const cell = (value) => number(value, 4, "min2"); // 2024 may be a year

/** x: a column of the row; y: the threshold asked; the line is what the model predicts now. */
function drawThresholds({ x: axis, points, prediction, unit, words }, width) {
  const height = Math.round(Math.min(600, Math.max(320, width * 1.08)));
  const seen = points.filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y));
  if (!seen.length) return null;
  const curve = [...(prediction ?? [])].sort(([a], [b]) => a - b);
  const { svg, box, x, y } = frame({
    width, height, top: narrow(width) ? 52 : 34,
    x: { domain: extent(seen.map((point) => point.x)), label: axis.name, format: axis.kind === "order" ? count : cell },
    y: { domain: extent([...seen.flatMap((point) => [point.low ?? point.y, point.high ?? point.y]), ...curve.map(([, value]) => value)]), label: withUnit("threshold asked", unit && `(${unit})`) },
  });
  const place = (point) => [x(point.x), y(point.y)];
  const third = Math.ceil(seen.length / 3);
  ["old", "middle", "new"].forEach((age, i) => {
    const part = seen.slice(i * third, (i + 1) * third);
    svg.append(discs(part.filter((p) => p.answer).map(place), 3.6, `yes ${age}`), crosses(part.filter((p) => !p.answer).map(place), 3.2, `no ${age}`));
  });
  const ends = seen.filter((point) => Number.isFinite(point.low) && Number.isFinite(point.high));
  ends.forEach((p) => svg.append(s("line", { class: `range ${p.answer ? "yes" : "no"}`, x1: x(p.x), x2: x(p.x), y1: y(p.low), y2: y(p.high) })));
  const inside = curve.filter(([at]) => at >= x.domain[0] && at <= x.domain[1]).map(([at, value]) => [x(at), y(value)]);
  const entries = [[yesMark, words[0]], [noMark, words[1]]];
  if (isCurve(curve) && inside.length > 1) {
    svg.append(line(inside, "halo"), line(inside, "prediction"));
    entries.push([([a, b]) => line([[a - 6, b], [a + 6, b]], "prediction"), "prediction"]);
  } else if (inside.length) {
    svg.append(discs(inside, 1.6, "prediction"));
    entries.push([(point) => discs([point], 1.9, "prediction"), "prediction"]);
  }
  legend(svg, box.right, entries, legendAt(width));
  const stops = seen.map((p) => ({ x: x(p.x), y: y(p.y), text: `question ${count(p.n)}: ${axis.name} ${cell(p.x)}, ${asked(p, unit)}: ${words[p.answer ? 0 : 1]}` }));
  return { svg, box, stops };
}

/** The threshold, or the two ends, in words. */
const asked = (p, unit) => ("low" in p ? `between ${number(p.low, 6)} and ${withUnit(number(p.high, 6), unit)}` : `threshold ${withUnit(number(p.y, 6), unit)}`);

const BENDS = 4;

/** Whether predictions, by their x, make a line: where other columns decide as well, they go up and down at every step. */
export function isCurve(points) {
  if (points.length < 2) return false;
  const values = points.map(([, value]) => value);
  const range = Math.max(...values) - Math.min(...values);
  const way = values.slice(1).reduce((sum, value, i) => sum + Math.abs(value - values[i]), 0);
  return way <= BENDS * range;
}

/** One column per question, one line per class: a mark where the class was in the set. */
function drawSets({ points, classes, words }, width) {
  const names = classes?.length ? classes : [...new Set(points.flatMap((point) => point.members))].sort();
  const labels = names.map((name) => shorten(String(name), width < 480 ? 12 : 20));
  const left = 14 + 7 * Math.max(...labels.map((label) => label.length));
  const rows = Math.max(15, Math.min(52, 500 / names.length));
  const [top, bottom, right] = [narrow(width) ? 46 : 32, 42, 14];
  const height = top + rows * names.length + bottom;
  const svg = canvas(width, height);
  const columns = Math.max(10, Math.floor((width - left - right) / 13));
  const seen = points.slice(-columns);
  const room = (width - left - right) / Math.max(seen.length, Math.min(columns, 30));
  const y = (i) => top + rows * (i + 0.5);
  labels.forEach((label, i) =>
    svg.append(s("line", { class: "plot-grid", x1: left, x2: width - right, y1: y(i), y2: y(i) }), s("text", { class: "plot-tick", x: left - 8, y: y(i) + 4, "text-anchor": "end" }, label)));
  const index = new Map(names.map((name, i) => [String(name), i]));
  const marks = { yes: [], no: [] };
  const stops = seen.map((point, k) => {
    const x = left + room * (k + 0.5);
    const at = point.members.map((name) => index.get(String(name))).filter((i) => i !== undefined);
    const kind = point.answer ? "yes" : "no";
    if (at.length > 1) svg.append(s("line", { class: `set ${kind}`, x1: x, x2: x, y1: y(Math.min(...at)), y2: y(Math.max(...at)) }));
    marks[kind].push(...at.map((i) => [x, y(i)]));
    return { x, y: y(at[0] ?? 0), text: `question ${count(point.n)}: one of ${point.members.join(", ")}? ${words[point.answer ? 0 : 1]}` };
  });
  const radius = Math.min(5, room * 0.36, rows * 0.3);
  svg.append(discs(marks.yes, radius, "yes"), crosses(marks.no, radius * 0.8, "no"));
  const base = height - bottom;
  const every = Math.max(1, Math.ceil(60 / room));
  seen.forEach((point, k) => {
    if (k % every === 0) svg.append(s("text", { class: "plot-tick", x: left + room * (k + 0.5), y: base + 16, "text-anchor": "middle" }, count(point.n)));
  });
  svg.append(s("text", { class: "plot-label", x: 2, y: 14 }, "class in the set"), s("text", { class: "plot-label", x: width - right, y: height - 6, "text-anchor": "end" }, "question"));
  legend(svg, width - right, [[yesMark, words[0]], [noMark, words[1]]], legendAt(width));
  return { svg, box: { left, right: width - right, top, bottom: base }, stops };
}

/** How often each pair was asked and who won: the line's item against the column's. */
export function wins(points, items, predicted = null) {
  const names = (items?.length ? items : [...new Set(points.flatMap((point) => [point.first, point.second]))]).map(String);
  const index = new Map(names.map((name, i) => [name, i]));
  const table = names.map(() => names.map(() => 0));
  for (const point of points) {
    const [a, b] = [index.get(String(point.first)), index.get(String(point.second))];
    if (a === undefined || b === undefined) continue;
    const [winner, loser] = point.answer ? [a, b] : [b, a];
    table[winner][loser] += 1;
  }
  const total = (i) => table[i].reduce((sum, won, j) => sum + won - table[j][i], 0);
  // In the order that the model predicts, where there is one: the chart and the predictions then say the same.
  const place = (i) => predicted?.map(String).indexOf(names[i]) ?? 0;
  const order = names.map((_, i) => i).sort((a, b) => place(a) - place(b) || total(b) - total(a));
  return { names: order.map((i) => names[i]), table: order.map((i) => order.map((j) => table[i][j])) };
}

function drawPairs({ points, items, order }, width) {
  const { names, table } = wins(points, items, order);
  const labels = names.map((name) => shorten(name, width < 480 ? 11 : 18));
  const left = 14 + 7 * Math.max(...labels.map((label) => label.length));
  const top = 26 + Math.min(110, 5.4 * Math.max(...labels.map((label) => label.length)));
  const overhang = 10 + 0.6 * (top - 26); // slanted names reach beyond the last column
  const cell = Math.min(60, (width - left - overhang) / names.length, Math.max(14, 480 / names.length));
  const height = Math.round(top + cell * names.length + 14);
  const svg = canvas(width, height);
  const stops = [];
  svg.append(s("text", { class: "plot-label", x: 2, y: 14 }, "times the line's item won against the column's"));
  labels.forEach((label, i) => {
    const across = left + cell * (i + 0.5);
    svg.append(
      s("text", { class: "plot-tick", x: left - 8, y: top + cell * (i + 0.5) + 4, "text-anchor": "end" }, label),
      s("text", { class: "plot-tick", x: across, y: top - 8, transform: `rotate(-45 ${across} ${top - 8})` }, label),
    );
  });
  table.forEach((line, i) => line.forEach((won, j) => svg.append(...drawCell({ won, lost: table[j][i], i, j, cell, left, top }, stops, names))));
  return { svg, box: { left, right: left + cell * names.length, top, bottom: top + cell * names.length }, stops };
}

function drawCell({ won, lost, i, j, cell, left, top }, stops, names) {
  const [x, y, asked] = [left + cell * j, top + cell * i, won + lost];
  const place = { x: x + 1, y: y + 1, width: cell - 2, height: cell - 2, rx: 3 };
  if (i === j || !asked) return [s("rect", { class: i === j ? "cell self" : "cell none", ...place })];
  const share = won / asked;
  stops.push({ x: x + cell / 2, y: y + cell / 2, text: `${names[i]} won ${count(won)} of ${plural(asked, "comparison")} with ${names[j]}` });
  const square = s("rect", { class: share >= 0.5 ? "cell yes" : "cell no", ...place, "fill-opacity": (0.06 + 0.88 * Math.abs(share - 0.5)).toFixed(2) });
  if (cell < 20) return [square];
  return [square, s("text", { class: "cell-text", x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle" }, String(won))];
}

const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export function tableOfCloud({ kind, x, points, words, items, order }) {
  const answer = (point) => words[point.answer ? 0 : 1];
  if (kind === "set") return { head: ["question", "set", "answer"], rows: points.map((p) => [p.n, p.members.join(", "), answer(p)]) };
  if (kind === "threshold") return { head: ["question", x.name, "threshold", "answer"], rows: points.map((p) => [p.n, p.x, "low" in p ? `${p.low} to ${p.high}` : p.y, answer(p)]) };
  const { names, table } = wins(points, items, order);
  return { head: ["won by \\ lost by", ...names], rows: names.map((name, i) => [name, ...table[i]]) };
}
