// Who has been let into a campaign, and taking somebody out of it.

import { del } from "../shared/api.js";
import { confirm } from "../shared/dialogs.js";
import { dataTable, el, toast } from "../shared/dom.js";
import { fill } from "../shared/fields.js";

/** A card that lists the members; managers are removed by administrators. */
export function membersCard(root) {
  const list = el("div");
  const refresh = () => fill(list, `${root}/members`, (all) => (all.length ? table(all) : el("p", { class: "muted" }, "Nobody yet.")));

  const remove = (member) => confirm({
    title: `Remove ${member.name}?`, button: "Remove", danger: true,
    say: ["They are asked no more questions of this campaign. What they answered stays and counts, unless you exclude them.", "Whoever has an invitation link can come back: revoke the link, too."],
    run: async () => {
      await del(`${root}/members/${encodeURIComponent(member.id)}`);
      toast(`${member.name} is out.`);
      await refresh();
    },
  });

  const line = (member) => el("tr", {},
    el("th", { scope: "row" }, el("span", { class: "person" }, member.name || member.id)),
    el("td", {}, member.role),
    el("td", {}, el("button", { type: "button", class: "button small danger", "aria-label": `Remove ${member.name || member.id}`, onclick: () => remove(member) }, "Remove")));

  const table = (all) => dataTable("Members", ["Person", "Role", ""], all.map(line), { class: "members-table", "aria-label": "Members" });
  refresh();
  return el("section", { class: "card stack" }, el("h2", {}, "Members"), el("p", { class: "muted small" }, "Who may answer or manage here; administrators may without being listed."), list);
}
