import { me, post } from "../shared/api.js";
import { byId, el, show } from "../shared/dom.js";
import { entry, formPage, secretEntry } from "../shared/forms.js";
import { plural } from "../shared/format.js";
import { top } from "../shared/header.js";

/** The secret is what stands behind the #, of this page's address or of a link that was pasted. */
const secretOf = (text) => (text.includes("#") ? text.slice(text.indexOf("#") + 1) : text).trim();
const secret = () => secretOf(location.hash) || secretOf(byId("invitation").value);

const REFUSED = "This invitation is not valid: it may have expired, been used up or been withdrawn. Ask for a new link.";
const lead = el("div", { class: "stack", "aria-live": "polite" }, el("p", { class: "lead" }, "Answer short questions, one at a time. No account is needed."));
const invitation = secretEntry("invitation", "Invitation", "Paste the link that you were sent.");
const called = entry("name", ["What shall we call you? ", el("span", { class: "muted" }, "(optional)")], { autocomplete: "nickname" },
  "The manager of the campaign sees it beside your answers. Leave it empty to stay unnamed.");
let joining = null;

top();
formPage({
  title: "You are invited", lead, fields: [invitation, called], submit: "Start",
  note: el("p", { class: "small muted" }, "A cookie keeps you signed in on this device, and your answers are stored with the time they took. You can have your data deleted at any time under Account."),
  send: async () => {
    const name = byId("name").value.trim();
    const joined = await post("/join", { invitation: secret(), ...(name === "" ? {} : { name }) });
    // replace: the secret leaves the history together with this page.
    location.replace(`/answer/${encodeURIComponent(joined.campaign)}`);
  },
  explain: (error) => ([401, 403, 404, 410].includes(error.status) ? REFUSED : null),
});

const minutes = (seconds) => Math.max(1, Math.round(seconds / 60));

/** Which campaign it is, who invites, and what one will be asked. */
function tell({ title, hosts, example, answers, goal, seconds }) {
  const who = hosts.length ? `${new Intl.ListFormat("en").format(hosts)} ${hosts.length > 1 ? "invite" : "invites"} you to answer short questions, one at a time.` : "You are asked to answer short questions, one at a time.";
  const much = goal ? `Up to ${plural(goal, "question")}, about ${plural(minutes(goal * seconds), "minute")} in all; stop whenever you like.` : `About ${plural(Math.max(1, Math.round(seconds)), "second")} each; stop whenever you like.`;
  show(lead,
    el("p", { class: "invited-title", dir: "auto" }, title),
    el("p", { class: "lead", dir: "auto" }, who),
    example ? el("blockquote", { class: "invited-example" }, el("p", { class: "strong", dir: "auto" }, example), answers.length ? el("p", { class: "muted small", dir: "auto" }, answers.join(" · ")) : null) : null,
    el("p", {}, joining ? `${much} You join as ${joining}.` : `${much} No account is needed.`));
}

/** What the link leads to, where it is known; a link that is not valid is told of when it is used. */
async function look() {
  const link = secret();
  const found = link ? await post("/invited", { invitation: link }).catch(() => null) : null;
  if (found && link === secret()) tell(found);
}

function arrange() {
  invitation.hidden = secretOf(location.hash) !== "";
  byId("invitation").required = !invitation.hidden;
  look();
}

const person = await me().catch(() => null);
if (person?.user) {
  joining = person.user.name;
  called.hidden = true;
  show(lead, el("p", { class: "lead" }, `You join as ${joining}.`));
}
arrange();
window.addEventListener("hashchange", arrange);
byId("invitation").addEventListener("change", look);
