import { me } from "./api.js";
import { el } from "./dom.js";
import { narrow } from "./forms.js";
import { top } from "./header.js";

top();
narrow(el("div", { class: "card stack" },
  el("h1", {}, "There is no such page"), el("p", { class: "muted" }, "The address may be mistyped, or what was here is gone."),
  el("p", {}, el("a", { class: "button primary", href: "/" }, "All campaigns"))));
const person = await me().catch(() => null);
if (person?.user) top(person);
