import { me, post } from "../shared/api.js";
import { byId } from "../shared/dom.js";
import { onSubmit } from "../shared/forms.js";
import { top } from "../shared/header.js";

/** The secret is what stands behind the #, of this page's address or of a link that was pasted. */
const secretOf = (text) => (text.includes("#") ? text.slice(text.indexOf("#") + 1) : text).trim();
const secret = () => secretOf(location.hash) || secretOf(byId("invitation").value);

function arrange() {
  const missing = secretOf(location.hash) === "";
  byId("invitation-field").hidden = !missing;
  byId("invitation").required = missing;
}

const REFUSED = "This invitation is not valid: it may have expired, been used up or been withdrawn. Ask for a new link.";
const explain = (error) => ([401, 403, 404, 410].includes(error.status) ? REFUSED : null);

top();
arrange();
window.addEventListener("hashchange", arrange);
onSubmit(byId("form"), async () => {
  const name = byId("name").value.trim();
  const joined = await post("/join", { invitation: secret(), ...(name === "" ? {} : { name }) });
  // replace: the secret leaves the history together with this page.
  location.replace(`/answer/${encodeURIComponent(joined.campaign)}`);
}, explain);

const person = await me().catch(() => null);
if (person?.user) {
  byId("name-field").hidden = true;
  byId("lead").textContent = `You join as ${person.user.name}.`;
}
