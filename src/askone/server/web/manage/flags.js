// What people found wrong with questions or rows.

import { el, scroller, show } from "../shared/dom.js";
import { fill } from "../shared/fields.js";
import { count, moment } from "../shared/format.js";

const nothing = () =>
  el("div", { class: "card empty stack" }, el("h2", {}, "Nothing was flagged"), el("p", {}, "When somebody flags a question, its row and their reason appear here."));

const table = (flags) =>
  scroller("Flags", el("table", {},
    el("caption", {}, `${count(flags.length)} flagged, the latest first`),
    el("thead", {}, el("tr", {}, ["Row", "Question", "Reason", "By", "When"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, [...flags].sort((a, b) => b.at - a.at).map((flag) => el("tr", {},
      el("th", { scope: "row" }, flag.key),
      el("td", { class: "prose" }, el("span", { class: "muted small" }, `#${count(flag.number)} `), flag.sentence),
      el("td", { class: "prose" }, flag.reason), el("td", {}, flag.who), el("td", { class: "nowrap" }, moment(flag.at)))))));

export function flagsTab(panel, shared) {
  show(panel, el("p", { class: "muted" }, "Loading …"));
  fill(panel, `${shared.root}/flags`, (flags) => (flags.length ? table(flags) : nothing()));
}
