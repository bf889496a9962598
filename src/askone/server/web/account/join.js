import { me, post } from "../shared/api.js";
import { byId, el } from "../shared/dom.js";
import { entry, formPage, secretEntry } from "../shared/forms.js";
import { top } from "../shared/header.js";

/** The secret is what stands behind the #, of this page's address or of a link that was pasted. */
const secretOf = (text) => (text.includes("#") ? text.slice(text.indexOf("#") + 1) : text).trim();

const REFUSED = "This invitation is not valid: it may have expired, been used up or been withdrawn. Ask for a new link.";
const lead = el("p", { class: "lead" }, "Answer short questions, one at a time. No account is needed.");
const invitation = secretEntry("invitation", "Invitation", "Paste the link that you were sent.");
const called = entry("name", ["What shall we call you? ", el("span", { class: "muted" }, "(optional)")], { autocomplete: "nickname" },
  "The manager of the campaign sees it beside your answers. Leave it empty to stay unnamed.");

top();
formPage({
  title: "You are invited", lead, fields: [invitation, called], submit: "Start",
  note: el("p", { class: "small muted" }, "A cookie keeps you signed in on this device, and your answers are stored with the time they took. You can have your data deleted at any time under Account."),
  send: async () => {
    const name = byId("name").value.trim();
    const secret = secretOf(location.hash) || secretOf(byId("invitation").value);
    const joined = await post("/join", { invitation: secret, ...(name === "" ? {} : { name }) });
    // replace: the secret leaves the history together with this page.
    location.replace(`/answer/${encodeURIComponent(joined.campaign)}`);
  },
  explain: (error) => ([401, 403, 404, 410].includes(error.status) ? REFUSED : null),
});

function arrange() {
  invitation.hidden = secretOf(location.hash) !== "";
  byId("invitation").required = !invitation.hidden;
}
arrange();
window.addEventListener("hashchange", arrange);

const person = await me().catch(() => null);
if (person?.user) {
  called.hidden = true;
  lead.textContent = `You join as ${person.user.name}.`;
}
