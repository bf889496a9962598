import { me, post } from "../shared/api.js";
import { byId, el } from "../shared/dom.js";
import { credentials, formPage, narrow, secretEntry } from "../shared/forms.js";
import { top } from "../shared/header.js";

const token = secretEntry("token", "Set-up token", "The server printed it, with a link, when it was started.");

top();
formPage({
  title: "Welcome to askone", submit: "Set up this server",
  lead: el("p", { class: "muted" }, "Nobody administers this server yet. Choose a name and a password: you will be the first."),
  fields: [token, ...credentials("new-password", "Ten characters or more, and not your name; a few unrelated words are easy to keep.")],
  send: async () => {
    // The token stands behind the # of the link: browsers never send that part, so no log has it.
    const secret = location.hash.slice(1) || byId("token").value.trim();
    await post("/setup", { token: secret, name: byId("name").value.trim(), password: byId("password").value });
    location.replace("/manage");
  },
  explain: (error) => (error.code === "already_exists" ? "Somebody who answers on this server has this name already: choose another one." : error.status === 409 ? "This server has an administrator already. Sign in instead." : null),
});

/** Without a token in the link it is asked for. */
function arrange() {
  token.hidden = location.hash.length > 1;
  byId("token").required = !token.hidden;
}
arrange();
window.addEventListener("hashchange", arrange);
byId(token.hidden ? "name" : "token").focus();

const person = await me().catch(() => null);
if (person && !person.needs_setup) {
  narrow(el("div", { class: "card stack" },
    el("h1", {}, "This server is set up"), el("p", { class: "muted" }, "It has an administrator already."),
    el("a", { class: "button primary", href: person.user ? "/" : "/login" }, person.user ? "All campaigns" : "Sign in")));
}
