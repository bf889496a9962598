import { me, post } from "../shared/api.js";
import { byId, el } from "../shared/dom.js";
import { onSubmit, revealing } from "../shared/forms.js";
import { top } from "../shared/header.js";

// The token stands behind the # of the link: browsers never send that part, so no log has it.
const token = () => location.hash.slice(1) || byId("token").value.trim();

top();
revealing(byId("reveal"), byId("password"));

/** Without a token in the link it is asked for. */
function arrange() {
  byId("token-field").hidden = location.hash.length > 1;
  byId("token").required = !byId("token-field").hidden;
}
arrange();
window.addEventListener("hashchange", arrange);

onSubmit(byId("form"), async () => {
  await post("/setup", { token: token(), name: byId("name").value.trim(), password: byId("password").value });
  location.replace("/manage");
}, (error) => (error.status === 409 ? "This server has an administrator already. Sign in instead." : null));
byId(byId("token-field").hidden ? "name" : "token").focus();

const person = await me().catch(() => null);
if (person && !person.needs_setup) {
  byId("form").replaceChildren(
    el("h1", {}, "This server is set up"),
    el("p", { class: "muted" }, "It has an administrator already."),
    el("a", { class: "button primary", href: person.user ? "/" : "/login" }, person.user ? "My campaigns" : "Sign in"),
  );
}
