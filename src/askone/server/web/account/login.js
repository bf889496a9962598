import { inside, me, post } from "../shared/api.js";
import { byId } from "../shared/dom.js";
import { onSubmit, revealing } from "../shared/forms.js";
import { top } from "../shared/header.js";

const next = () => inside(new URLSearchParams(location.search).get("next") ?? "/");

top();
revealing(byId("reveal"), byId("password"));
onSubmit(byId("form"), async () => {
  await post("/login", { name: byId("name").value.trim(), password: byId("password").value });
  location.replace(next());
}, (error) => (error.status === 401 ? "The name or the password is wrong." : null));
byId("name").focus();

const person = await me().catch(() => null);
if (person?.user) location.replace(next());
else if (person?.needs_setup) location.replace("/setup");
