// A curve as small as a word: which way it goes. The number stands beside it.

import { s } from "../shared/dom.js";
import { line } from "./marks.js";

const [WIDTH, HEIGHT, EDGE] = [96, 28, 3];

export function sparkline(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (i) => EDGE + (i / Math.max(1, values.length - 1)) * (WIDTH - 2 * EDGE);
  const y = (value) => HEIGHT - EDGE - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * EDGE);
  const points = values.map((value, i) => [x(i), y(value)]);
  return s("svg", { class: "chart sparkline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, "aria-hidden": "true" },
    line(points, "main"), s("circle", { class: "end", cx: points.at(-1)[0], cy: points.at(-1)[1], r: 2.5 }));
}
