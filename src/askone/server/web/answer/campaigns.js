import { me, post } from "../shared/api.js";
import { byId, el, icon, show } from "../shared/dom.js";
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

const main = byId("main");
top();
const person = await insist(me, (error) => show(main, el("div", { class: "notice bad", role: "alert" }, error.message)));
const { user, campaigns } = person;
if (user) {
  const manages = user.role !== "annotator";
  const none = manages ? "There is no campaign yet. Start one from a table of rows." : "You are in no campaign yet. Open the invitation link that you were sent.";
  top(person);
  main.removeAttribute("aria-busy");
  show(main, el("div", { class: "stack loose" },
    el("div", { class: "line between" },
      el("div", {}, el("h1", {}, "My campaigns"), el("p", { class: "muted" }, `Signed in as ${user.name}.`)),
      el("div", { class: "line" },
        manages ? el("a", { class: "button primary", href: "/manage/new" }, "New campaign") : null,
        el("button", { class: "button", type: "button", onclick: signOut }, "Sign out"))),
    campaigns.length ? el("ul", { class: "grid plain", id: "campaigns" }, campaigns.map(card)) : el("div", { class: "card flat empty", id: "none" }, none)));
} else location.replace(person.needs_setup ? "/setup" : "/login");
