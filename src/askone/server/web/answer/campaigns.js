import { me, post } from "../shared/api.js";
import { byId, el, icon } from "../shared/dom.js";
import { insist } from "../shared/backoff.js";
import { top } from "../shared/header.js";

function card({ name, title, role }) {
  const path = encodeURIComponent(name);
  return el("li", { class: "card stack" },
    el("div", { class: "line between" }, el("h2", { dir: "auto" }, title || name),
      el("span", { class: role === "manager" ? "badge info" : "badge" }, role)),
    el("div", { class: "line" },
      el("a", { class: "button primary", href: `/answer/${path}`, "aria-label": `Answer: ${title || name}` }, "Answer", icon("right")),
      role === "manager" ? el("a", { class: "button", href: `/manage/${path}`, "aria-label": `Manage: ${title || name}` }, "Manage") : ""));
}

async function signOut() {
  await post("/logout").catch(() => {});
  location.assign("/login");
}

function show(person) {
  const { user, campaigns } = person;
  const manages = user.role !== "annotator";
  top(person);
  byId("greeting").textContent = `Signed in as ${user.name}.`;
  byId("actions").replaceChildren(
    manages ? el("a", { class: "button primary", href: "/manage/new" }, "New campaign") : "",
    el("button", { class: "button", type: "button", onclick: signOut }, "Sign out"));
  byId("campaigns").replaceChildren(...campaigns.map(card));
  byId("campaigns").removeAttribute("aria-busy");
  byId("none").hidden = campaigns.length > 0;
  byId("none").textContent = manages
    ? "There is no campaign yet. Start one from a table of rows."
    : "You are in no campaign yet. Open the invitation link that you were sent.";
}

top();
const person = await insist(me, (error) => {
  byId("problem").textContent = error.message;
  byId("problem").hidden = false;
});
byId("problem").hidden = true;
if (person.user) show(person);
else location.replace(person.needs_setup ? "/setup" : "/login");
