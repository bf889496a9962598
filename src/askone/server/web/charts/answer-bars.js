// Answers per minute.

import { s } from "../shared/dom.js";
import { frame } from "./marks.js";
import { clock, count, plural } from "../shared/format.js";

const MOST = 60;

/** `data`: [[minute, answers], ...]; minutes without answers count as zero, those before the first are left out. */
export function drawBars(data, width) {
  if (!data.some(([, answers]) => answers)) return null;
  const minutes = filled(data);
  const height = 190;
  const most = Math.max(4, ...minutes.map(([, answers]) => answers));
  const first = minutes[0][0];
  const last = minutes.at(-1)[0] + 60;
  const { svg, box, x, y } = frame({
    width, height, x: { domain: [first, last], format: clock, ticks: clockTicks(first, last, width) }, y: { domain: [0, most * 1.06], label: "answers per minute", format: count },
  });
  const room = (box.right - box.left) / minutes.length;
  const stops = minutes.map(([minute, answers]) => {
    const at = x(minute);
    svg.append(s("rect", { class: "plot-bar", x: (at + room * 0.1).toFixed(1), y: y(answers).toFixed(1), width: (room * 0.8).toFixed(1), height: (box.bottom - y(answers)).toFixed(1), rx: Math.min(2, room / 4) }));
    return { x: at + room / 2, y: y(answers), text: `${clock(minute)}: ${plural(answers, "answer")}` };
  });
  return { svg, box, stops };
}

function filled(data) {
  const known = new Map(data);
  const last = Math.max(...known.keys());
  const begun = Math.min(...data.filter(([, answers]) => answers).map(([minute]) => minute));
  const first = Math.max(Math.min(begun, last - 14 * 60), last - (MOST - 1) * 60);
  const minutes = [];
  for (let minute = first; minute <= last; minute += 60) minutes.push([minute, known.get(minute) ?? 0]);
  return minutes;
}

function clockTicks(first, last, width) {
  const gap = [60, 120, 300, 600, 900, 1800, 3600].find((step) => (last - first) / step <= width / 90) ?? 3600;
  const ticks = [];
  for (let tick = Math.ceil(first / gap) * gap; tick <= last; tick += gap) ticks.push(tick);
  return ticks;
}

export const tableOfBars = (data) => ({ head: ["minute", "answers"], rows: data.map(([minute, answers]) => [clock(minute), answers]) });
