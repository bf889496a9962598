// What people found wrong with questions or rows.

import { post } from "../shared/api.js";
import { dataTable, el, show, toast } from "../shared/dom.js";
import { action, fill, words } from "../shared/fields.js";
import { count, moment } from "../shared/format.js";

const nothing = () =>
  el("div", { class: "card empty stack" }, el("h2", {}, "Nothing was flagged"), el("p", {}, "When somebody flags a question, its row and their reason appear here."));

const table = (flags, seenTo) =>
  dataTable("Flags", ["Row", "Question", "Reason", "By", "When", ""], [...flags].sort((a, b) => Number(a.resolved ?? false) - Number(b.resolved ?? false) || b.at - a.at).map((flag) => el("tr", { class: flag.resolved ? "excluded" : null },
    el("th", { scope: "row" }, flag.key),
    el("td", { class: "prose" }, el("span", { class: "muted small" }, `#${count(flag.number)} `), flag.sentence),
    el("td", { class: "prose" }, flag.reason), el("td", {}, flag.who), el("td", { class: "nowrap" }, moment(flag.at)),
    el("td", {}, flag.resolved ? el("span", { class: "badge" }, "seen to") : action("Seen to", () => seenTo(flag), { class: "button small", "aria-label": `Seen to: ${flag.reason.slice(0, 40)}` })))),
  { caption: el("caption", {}, `${count(flags.length)} flagged, the latest first`) });

export function flagsTab(panel, shared) {
  show(panel, el("p", { class: "muted" }, "Loading …"));
  const refresh = () => fill(panel, `${shared.root}/flags`, (flags) => (flags.length ? table(flags, seenTo) : nothing()));
  const seenTo = (flag) => post(`${shared.root}/flags/${encodeURIComponent(flag.id)}/resolve`).then(refresh, (error) => toast(words(error)));
  refresh();
}
