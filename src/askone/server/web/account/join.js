import { me, post } from "../shared/api.js";
import { consent } from "../answer/privacy.js";
import { answers, sentence } from "../answer/sentence.js";
import { byId, el, show } from "../shared/dom.js";
import { entry, formPage, secretEntry } from "../shared/forms.js";
import { locale, t, tn, use } from "../shared/language.js";
import { top } from "../shared/header.js";

/** The secret is what stands behind the #, of this page's address or of a link that was pasted. */
const secretOf = (text) => (text.includes("#") ? text.slice(text.indexOf("#") + 1) : text).trim();
const secret = () => secretOf(location.hash) || secretOf(byId("invitation").value);

const refused = () => t("This invitation is not valid: it may have expired, been used up or been withdrawn. Ask for a new link.");
let [lead, joining] = [null, null];

/** The page in the language that is used, with what was written on it. */
function draw() {
  const typed = ["invitation", "name"].map((id) => byId(id)?.value ?? "");
  document.title = `${t("Invitation")} · askone`;
  top();
  const words = joining ? t("You join as {name}.", { name: joining }) : `${t("Answer short questions, one at a time.")} ${t("No account is needed.")}`;
  lead = el("div", { class: "stack", "aria-live": "polite" }, el("p", { class: "lead" }, words));
  const invitation = secretEntry("invitation", t("Invitation"), t("Paste the link that you were sent."));
  const called = entry("name", [t("What shall we call you?"), " ", el("span", { class: "muted" }, t("(optional)"))], { autocomplete: "nickname" },
    t("The manager of the campaign sees it beside your answers. Leave it empty to stay unnamed."));
  formPage({
    title: t("You are invited"), lead, fields: [invitation, called], submit: t("Start"),
    note: el("p", { class: "small muted", id: "stored" }, t("A cookie keeps you signed in on this device, and your answers are stored with the time they took. You can have your data deleted at any time under Account.")),
    send: async () => {
      const name = byId("name").value.trim();
      const joined = await post("/join", { invitation: secret(), ...(name === "" ? {} : { name }) });
      // replace: the secret leaves the history together with this page.
      location.replace(`/answer/${encodeURIComponent(joined.campaign)}`);
    },
    explain: (error) => ([401, 403, 404, 410].includes(error.status) ? refused() : null),
  });
  [byId("invitation").value, byId("name").value] = typed;
  invitation.hidden = secretOf(location.hash) !== "";
  byId("invitation").required = !invitation.hidden;
  byId("invitation").addEventListener("change", look);
  called.hidden = joining !== null;
}

const minutes = (seconds) => Math.max(1, Math.round(seconds / 60));

/** How many questions, and how long they take. */
function effort(goal, seconds) {
  if (!goal) return t("About {seconds} each; stop whenever you like.", { seconds: tn("{n} second", "{n} seconds", Math.max(1, Math.round(seconds))) });
  const all = { questions: tn("{n} question", "{n} questions", goal), minutes: tn("{n} minute", "{n} minutes", minutes(goal * seconds)) };
  return t("Up to {questions}, about {minutes} in all; stop whenever you like.", all);
}

/** Which campaign it is, who invites, and what one will be asked. */
function tell({ title, hosts, question, goal, seconds, privacy }) {
  const all = new Intl.ListFormat(locale()).format(hosts);
  const who = hosts.length
    ? tn("{hosts} invites you to answer short questions, one at a time.", "{hosts} invite you to answer short questions, one at a time.", hosts.length, { hosts: all })
    : t("You are asked to answer short questions, one at a time.");
  if (privacy) byId("stored").textContent = t("A cookie keeps you signed in on this device. You can have your data deleted at any time under Account.");
  show(lead,
    el("p", { class: "invited-title", dir: "auto" }, title),
    el("p", { class: "lead" }, who),
    question ? el("blockquote", { class: "invited-example" }, el("p", { class: "strong" }, sentence(question)), el("p", { class: "muted small" }, answers(question).join(" · "))) : null,
    privacy ? el("div", { class: "notice stack" }, consent(privacy)) : null,
    el("p", {}, effort(goal, seconds), " ", joining ? t("You join as {name}.", { name: joining }) : t("No account is needed.")));
}

/** What the link leads to, where it is known; a link that is not valid is told of when it is used. */
async function look() {
  const link = secret();
  const found = link ? await post("/invited", { invitation: link }).catch(() => null) : null;
  if (!found || link !== secret()) return;
  if (await use(found.language).catch(() => false)) draw();
  tell(found);
}

function arrange() {
  draw();
  look();
}

await use().catch(() => {}); // without a catalogue it is English
draw();
joining = (await me().catch(() => null))?.user?.name ?? null;
if (joining) draw();
look();
window.addEventListener("hashchange", arrange);
