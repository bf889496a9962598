// For admins: who has an account, and what they may do.

import { del, get, patch, post } from "../shared/api.js";
import { confirm } from "../shared/dialogs.js";
import { el, toast } from "../shared/dom.js";
import { action, bad, choice, clearErrors, field, fieldOf, showError, text, words } from "../shared/fields.js";
import { scroller, show } from "../shared/elements.js";

const ROLES = [["admin", "admin"], ["manager", "manager"], ["annotator", "annotator"]];

export function users(person) {
  const list = el("div");
  const message = el("div", { "aria-live": "polite" });
  const wish = { name: "", role: "manager", password: "" };

  async function refresh() {
    try {
      show(list, table(await get("/users")));
    } catch (error) {
      show(list, bad(words(error)));
    }
  }

  async function turn(user, role) {
    try {
      await patch(`/users/${encodeURIComponent(user.id)}`, { role });
      toast(`${user.name} is ${role} now.`);
    } catch (error) {
      toast(words(error));
    }
    await refresh();
  }

  const remove = (user) => confirm({
    title: `Remove ${user.name}?`, say: "Their name, password, sessions and tokens are deleted; their answers stay under a pseudonym.", button: "Remove", danger: true,
    run: async () => {
      await del(`/users/${encodeURIComponent(user.id)}`);
      await refresh();
    },
  });

  const line = (user) => {
    const self = user.id === person.user.id;
    return el("tr", {},
      el("th", { scope: "row" }, user.name, " ", user.disabled ? el("span", { class: "badge bad" }, "disabled") : null),
      el("td", {}, self ? user.role : choice(user.role, ROLES, (role) => turn(user, role), { "aria-label": `Role of ${user.name}`, class: "role" })),
      el("td", {}, self ? "you" : el("button", { type: "button", class: "button small danger", "aria-label": `Remove ${user.name}`, onclick: () => remove(user) }, "Remove")));
  };

  const table = (all) => scroller("Users", el("table", {},
    el("thead", {}, el("tr", {}, ["Name", "Role", ""].map((name) => el("th", { scope: "col" }, name || el("span", { class: "visually-hidden" }, "Change"))))),
    el("tbody", {}, all.map(line))));

  const form = el("form", { class: "fields" },
    field({ label: "Name", path: "name" }, text("", (value) => { wish.name = value; }, { required: true, maxlength: "100" })),
    field({ label: "Role", path: "role" }, choice(wish.role, ROLES, (value) => { wish.role = value; })),
    field({ label: "First password", path: "password", hint: "Tell it to them; they change it." }, text("", (value) => { wish.password = value; }, { type: "password", autocomplete: "new-password" })),
    el("div", { class: "field end" }, action("Add user", async () => {
      clearErrors(form);
      show(message);
      const body = { name: wish.name, role: wish.role };
      if (wish.password) body.password = wish.password;
      try {
        await post("/users", body);
        form.reset();
        Object.assign(wish, { name: "", role: "manager", password: "" });
        await refresh();
      } catch (error) {
        if (!showError(form, fieldOf(error), words(error))) show(message, bad(words(error)));
      }
    })));
  form.addEventListener("submit", (event) => event.preventDefault());
  refresh();
  return el("section", { class: "card stack users" }, el("h2", {}, "Users"), list, el("h3", {}, "Add a user"), form, message);
}
