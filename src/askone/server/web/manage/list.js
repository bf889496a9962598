// The list of campaigns, and a campaign brought back from a backup.

import { get, upload } from "../shared/api.js";
import { el, show } from "../shared/dom.js";
import { confirm } from "../shared/dialogs.js";
import { field, text } from "../shared/fields.js";
import { bar, start, statusBadge } from "./page.js";
import { count, day, plural } from "../shared/format.js";

const ORDER = { running: 0, paused: 1, finished: 2, closed: 3 };
const rank = ({ status, finished }) => ORDER[finished ? "finished" : status] ?? 4;

function card(campaign) {
  const { name, title, status, finished, answers, rows, budget, created } = campaign;
  const words = answers === null ? "" : budget ? `${count(answers)} of ${plural(budget, "answer")}` : plural(answers, "answer");
  return el("li", {},
    el("a", { class: "card campaign-card", href: `/manage/${encodeURIComponent(name)}` },
      el("h2", {}, title || name),
      el("div", { class: "line between" }, el("p", { class: "number" }, words), statusBadge(status, finished)),
      budget ? bar(answers / budget, `${Math.round((100 * answers) / budget)} % of the budget`) : null,
      el("p", { class: "muted small" }, `${rows > 1 ? `${plural(rows, "row")} · ` : ""}since ${day(created)}`)));
}

function restore() {
  const fill = el("div", { class: "fill" });
  const progress = el("div", { class: "bar", hidden: true }, fill);
  const file = el("input", { type: "file", accept: ".zip,.askone", required: true });
  let name = "";
  confirm({
    title: "Restore a campaign", button: "Restore",
    say: "A backup holds the whole campaign: settings, rows, every answer and the model. Its chain of hashes is checked before anything is written.",
    fields: [
      field({ label: "Backup file" }, file),
      field({ label: "New name (optional)", path: "name", hint: "Needed where a campaign of the old name is still here; the copy then says “(restored)” in its title." }, text("", (value) => { name = value.trim(); }, { placeholder: "prices-2" })),
      progress,
    ],
    run: async () => {
      progress.hidden = false;
      try {
        const path = name ? `/restore?name=${encodeURIComponent(name)}` : "/restore";
        const made = await upload(path, file.files[0], (share) => { fill.style.width = `${100 * share}%`; });
        location.assign(`/manage/${encodeURIComponent(made.name)}`);
      } finally {
        progress.hidden = true;
      }
    },
  });
}

const nothing = () =>
  el("div", { class: "card empty stack" },
    el("h2", {}, "No campaign yet"),
    el("p", {}, "A campaign takes a table of rows and asks people one yes/no question at a time. The model learns from every answer."),
    el("p", {}, el("a", { class: "button primary", href: "/manage/new" }, "Start your first campaign")));

start(async (person, place) => {
  const campaigns = (await get("/campaigns")).filter((one) => one.role === "manager");
  campaigns.sort((a, b) => rank(a) - rank(b) || b.created - a.created);
  show(place,
    el("div", { class: "line between page-head" },
      el("h1", {}, "Campaigns"),
      el("div", { class: "line" },
        el("button", { type: "button", class: "button", onclick: restore }, "Restore a backup"),
        el("a", { class: "button primary", href: "/manage/new" }, "New campaign"))),
    campaigns.length ? el("ul", { class: "grid plain campaign-list" }, campaigns.map(card)) : nothing());
});
