// The list of campaigns, of those who answer and of those who manage; and a campaign brought back from a backup.

import { get, post, upload } from "../shared/api.js";
import { headline } from "../charts/learning-curve.js";
import { sparkline } from "../charts/sparkline.js";
import { el, icon, show } from "../shared/dom.js";
import { confirm } from "../shared/dialogs.js";
import { field, text } from "../shared/fields.js";
import { bar, start, statusBadge } from "./page.js";
import { count, day, plural } from "../shared/format.js";

const ORDER = { running: 0, paused: 1, finished: 2, closed: 3 };
const rank = ({ status, finished }) => ORDER[finished ? "finished" : status] ?? 4;

/** The error now, with its band (early on the value alone says little), and how it came there. */
function measured(curve) {
  if (!curve?.latest) return null;
  const { measure, unit, latest, values } = curve;
  const [value, band] = headline(latest, measure, unit ?? "");
  return el("div", { class: "line between measured" },
    el("p", {}, el("span", { class: "strong number" }, value), " ", el("span", { class: "muted small" }, `${measure} (${band})`)),
    sparkline(values));
}

/** How far it is: of the answers that are wanted, or of one's own. */
function progress({ role, answers, total, mine, goal }) {
  const [have, of] = role === "manager" ? [answers, total] : [mine, goal];
  if (have === null || have === undefined) return null;
  const words = of ? `${count(have)} of ${plural(of, "answer")}` : plural(have, "answer");
  return [el("p", { class: "number" }, role === "manager" ? words : `${words} from you`), of ? bar(have / of, `${Math.round((100 * have) / of)} %`) : null];
}

function card(campaign) {
  const { name, title, role, status, finished, rows, created, answerable } = campaign;
  const [path, manages] = [encodeURIComponent(name), role === "manager"];
  return el("li", { class: "card campaign-card" },
    el("div", { class: "line between" }, el("h2", { dir: "auto" }, manages ? el("a", { href: `/manage/${path}` }, title || name) : title || name), statusBadge(status, finished)),
    progress(campaign), measured(campaign.curve),
    el("p", { class: "muted small" }, `${rows > 1 ? `${plural(rows, "row")} · ` : ""}since ${day(created)}`),
    el("div", { class: "line" },
      answerable ? el("a", { class: manages ? "button" : "button primary", href: `/answer/${path}`, "aria-label": `Answer: ${title || name}` }, "Answer", icon("right")) : el("span", { class: "muted small" }, manages ? "" : "No question for you now.")));
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

const nothing = (makes) => (makes
  ? el("div", { class: "card empty stack", id: "none" },
    el("h2", {}, "No campaign yet"),
    el("p", {}, "A campaign takes a table of rows and asks people one yes/no question at a time. The model learns from every answer."),
    el("p", {}, el("a", { class: "button primary", href: "/manage/new" }, "Start your first campaign")))
  : el("div", { class: "card empty", id: "none" }, "You are in no campaign yet. Open the invitation link that you were sent."));

async function signOut() {
  await post("/logout").catch(() => {});
  location.assign("/login");
}

start(async ({ user }, place) => {
  const campaigns = await get("/campaigns");
  const makes = !["annotator", "program"].includes(user.role);
  campaigns.sort((a, b) => rank(a) - rank(b) || b.created - a.created);
  show(place,
    el("div", { class: "line between page-head" },
      el("div", {}, el("h1", {}, "Campaigns"), el("p", { class: "muted" }, `Signed in as ${user.name}.`)),
      el("div", { class: "line" },
        el("button", { type: "button", class: "button quiet", onclick: signOut }, "Sign out"),
        makes ? el("button", { type: "button", class: "button", onclick: restore }, "Restore a backup") : null,
        makes ? el("a", { class: "button primary", href: "/manage/new" }, "New campaign") : null)),
    campaigns.length ? el("ul", { class: "grid plain campaign-list", id: "campaigns" }, campaigns.map(card)) : nothing(makes));
});
