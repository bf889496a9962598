import { inside, me, post } from "../shared/api.js";
import { byId, el } from "../shared/dom.js";
import { credentials, formPage } from "../shared/forms.js";
import { t, use } from "../shared/language.js";
import { top } from "../shared/header.js";

const next = () => inside(new URLSearchParams(location.search).get("next") ?? "/");

await use().catch(() => {}); // without a catalogue it is English
document.title = `${t("Sign in")} · askone`;
top();
formPage({
  title: t("Sign in"), fields: credentials("current-password"), submit: t("Sign in"),
  note: el("p", { class: "small muted" }, t("Invited to answer questions? Open your invitation link: it needs no password.")),
  send: async () => {
    await post("/login", { name: byId("name").value.trim(), password: byId("password").value });
    location.replace(next());
  },
  explain: (error) => (error.status === 401 ? t("The name or the password is wrong.") : null),
});
byId("name").focus();

const person = await me().catch(() => null);
if (person?.user) location.replace(next());
else if (person?.needs_setup) location.replace("/setup");
