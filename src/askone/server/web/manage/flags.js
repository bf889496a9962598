// What people found wrong with questions or rows.

import { dataTable, el, show } from "../shared/dom.js";
import { fill } from "../shared/fields.js";
import { count, moment } from "../shared/format.js";

const nothing = () =>
  el("div", { class: "card empty stack" }, el("h2", {}, "Nothing was flagged"), el("p", {}, "When somebody flags a question, its row and their reason appear here."));

const table = (flags) =>
  dataTable("Flags", ["Row", "Question", "Reason", "By", "When"], [...flags].sort((a, b) => b.at - a.at).map((flag) => el("tr", {},
    el("th", { scope: "row" }, flag.key),
    el("td", { class: "prose" }, el("span", { class: "muted small" }, `#${count(flag.number)} `), flag.sentence),
    el("td", { class: "prose" }, flag.reason), el("td", {}, flag.who), el("td", { class: "nowrap" }, moment(flag.at)))),
  { caption: el("caption", {}, `${count(flags.length)} flagged, the latest first`) });

export function flagsTab(panel, shared) {
  show(panel, el("p", { class: "muted" }, "Loading …"));
  fill(panel, `${shared.root}/flags`, (flags) => (flags.length ? table(flags) : nothing()));
}
