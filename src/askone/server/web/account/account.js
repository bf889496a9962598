// One's own account: password, tokens for programs, leaving. Admins see all users too.

import { del, patch, post } from "../shared/api.js";
import { confirm, copyable } from "../shared/dialogs.js";
import { dataTable, el, show, stackedTable, toast } from "../shared/dom.js";
import { action, attempt, check, choice, field, fill, numeral, showError, text, words } from "../shared/fields.js";
import { start } from "../manage/page.js";
import { day } from "../shared/format.js";

const SCOPES = [["read", "Read"], ["answer", "Answer"], ["manage", "Manage"]];

/** `changed` is called when a new password has ended all tokens. */
function password(changed) {
  const wish = { old: "", new: "" };
  let again = "";
  const message = el("div", { "aria-live": "polite" });
  const box = (key, name) => text("", (value) => { if (key === "again") again = value; else wish[key] = value; }, { type: "password", autocomplete: name, required: true });
  const form = el("form", { class: "stack" },
    field({ label: "Current password", path: "old" }, box("old", "current-password")),
    field({ label: "New password", path: "new", hint: "Ten characters or more; a sentence is easy to keep." }, box("new", "new-password")),
    field({ label: "New password again", path: "again" }, box("again", "new-password")),
    el("div", {}, el("button", { type: "submit", class: "button" }, "Change password")), message);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form, message, async () => {
      show(message);
      if (wish.new !== again) {
        showError(form, "again", "The two are not the same.");
        return;
      }
      await post("/me/password", wish);
      form.reset();
      toast("Password changed. Other sessions and all tokens have ended.");
      changed();
    }, (error) => (error.argument === "password" ? "new" : error.argument));
  });
  return section("Password", el("p", { class: "muted" }, "A new one ends all tokens, and signs you out everywhere else."), form);
}

function tokens() {
  const list = el("div");
  const message = el("div", { "aria-live": "polite" });
  const wish = { title: "", expires_days: 90 };
  const scopes = new Set(["read"]);

  const refresh = () => fill(list, "/tokens", (all) => (all.length ? table(all) : el("p", { class: "muted" }, "No token yet. Programs and scripts need one.")));

  const table = (all) => dataTable("Tokens", ["Token", "May", "Valid until", ""], all.map((one) => el("tr", {},
    el("th", { scope: "row" }, one.title || "–", el("br"), el("span", { class: "mono muted small" }, one.prefix ? `${one.prefix}…` : "")),
    el("td", {}, el("span", { class: "badges" }, (one.scopes ?? []).map((scope) => el("span", { class: "badge" }, scope)))),
    el("td", { class: "nowrap" }, one.expires ? day(one.expires) : "no end"),
    el("td", {}, el("button", { type: "button", class: "button small danger", "aria-label": `Revoke ${one.title || one.id}`, onclick: () => confirm({
      title: "Revoke this token?", say: "Programs that use it are refused from now on.", button: "Revoke", danger: true,
      run: () => del(`/tokens/${encodeURIComponent(one.id)}`).then(refresh),
    }) }, "Revoke")))));

  const form = el("div", { class: "stack" },
    el("div", { class: "fields" },
      field({ label: "What it is for", path: "title" }, text("", (value) => { wish.title = value; }, { placeholder: "nightly export", maxlength: "100" })),
      field({ label: "Valid for days", path: "expires_days" }, numeral(wish.expires_days, (value) => { wish.expires_days = value; }, { min: "1", step: "1" }))),
    el("fieldset", { class: "field", dataset: { path: "scopes" } }, el("legend", {}, "It may"), el("div", { class: "line" }, SCOPES.map(([scope, name]) => check(name, scopes.has(scope), (on) => (on ? scopes.add(scope) : scopes.delete(scope))))), el("span", { class: "error", role: "alert" })),
    el("div", {}, action("Make a token", () => attempt(form, message, async () => {
      const made = await post("/tokens", { ...wish, scopes: [...scopes] });
      show(message, el("div", { class: "notice good stack" }, copyable("Token", made.token), el("p", { class: "small" }, "Copy it now: it is shown this once, and only its hash is kept.")));
      await refresh();
    }))));
  refresh();
  return { element: section("Tokens for programs", list, form, message), refresh };
}

function leaving(user) {
  const go = () => confirm({
    title: "Delete my data?", button: "Delete my data", danger: true, typed: user.name,
    say: ["Your name, password, sessions and tokens are deleted. Your answers stay under a pseudonym that leads to nobody.", "This cannot be undone."],
    run: () => del("/me").then(() => location.assign("/")),
  });
  return section("Delete my data", el("p", { class: "muted" }, "Removes everything that says who you are; your answers stay under a pseudonym. This cannot be undone."),
    el("div", {}, el("button", { type: "button", class: "button danger", onclick: go }, "Delete my data")));
}

const ROLES = [["admin", "admin"], ["manager", "manager"], ["annotator", "annotator"], ["program", "program"]];

/** For admins: who has an account, and what they may do. */
function users(person) {
  const list = el("div");
  const message = el("div", { "aria-live": "polite" });
  const wish = { name: "", role: "manager", password: "" };

  const refresh = () => fill(list, "/users", table);

  const path = (user) => `/users/${encodeURIComponent(user.id)}`;

  async function turn(user, change, said) {
    try {
      await patch(path(user), change);
      toast(said);
    } catch (error) {
      toast(words(error));
    }
    await refresh();
  }

  const enable = (user) => turn(user, { disabled: false }, `${user.name} may sign in again.`);
  const disable = (user) => confirm({
    title: `Disable ${user.name}?`, say: "They are signed out, and neither a password nor a token lets them in until you enable them.", button: "Disable", danger: true,
    run: () => patch(path(user), { disabled: true }).then(refresh),
  });
  const revoke = (user) => confirm({
    title: `Revoke the tokens of ${user.name}?`, say: "All their tokens and sessions end. With their password they can sign in again.", button: "Revoke", danger: true,
    run: () => del(`${path(user)}/tokens`).then(() => toast(`Tokens and sessions of ${user.name} have ended.`)),
  });
  const remove = (user) => confirm({
    title: `Remove ${user.name}?`, say: "Their name, password, sessions and tokens are deleted; their answers stay under a pseudonym.", button: "Remove", danger: true,
    run: () => del(path(user)).then(refresh),
  });
  function renew(user) {
    const wish = { password: "" };
    const box = text("", (value) => { wish.password = value; }, { type: "password", autocomplete: "new-password", required: true });
    confirm({
      title: `New password for ${user.name}`, say: "Tell it to them; they change it. Their sessions and tokens end.", button: "Set password",
      fields: [field({ label: "New password", path: "password", hint: "Ten characters or more." }, box)],
      run: () => patch(path(user), wish).then(() => toast(`${user.name} has a new password.`)),
    });
  }

  const button = (user, name, run, kind = "") =>
    el("button", { type: "button", class: `button small ${kind}`, "aria-label": `${name}: ${user.name}`, onclick: () => run(user) }, name);
  const acts = (user) => el("div", { class: "line acts" },
    button(user, "New password", renew), button(user, "Revoke tokens", revoke),
    el("span", { class: "apart" }, user.disabled ? button(user, "Enable", enable) : button(user, "Disable", disable, "danger"), button(user, "Remove", remove, "danger")));

  const line = (user) => {
    const self = user.id === person.user.id;
    const forgotten = user.name === `forgotten ${user.id}`;
    return el("tr", {},
      el("th", { scope: "row" }, user.name, " ", user.disabled && !forgotten ? el("span", { class: "badge bad" }, "disabled") : null),
      el("td", {}, self || forgotten ? user.role : choice(user.role, ROLES, (role) => turn(user, { role }, `${user.name} is ${role} now.`), { "aria-label": `Role of ${user.name}`, class: "role" })),
      el("td", {}, self ? "you" : forgotten ? "" : acts(user)));
  };

  const table = (all) => stackedTable("Users", ["Name", "Role", ""], all.map(line));

  const form = el("form", { class: "fields" },
    field({ label: "Name", path: "name", hint: "Letters of one alphabet; no other name may look like it." }, text("", (value) => { wish.name = value; }, { required: true, maxlength: "100" })),
    field({ label: "Role", path: "role" }, choice(wish.role, ROLES, (value) => { wish.role = value; })),
    field({ label: "First password", path: "password", hint: "Ten characters or more. Tell it to them; they change it." }, text("", (value) => { wish.password = value; }, { type: "password", autocomplete: "new-password" })),
    el("div", { class: "field end" }, action("Add user", () => attempt(form, message, async () => {
      show(message);
      const { password, ...rest } = wish;
      await post("/users", password ? wish : rest);
      form.reset();
      Object.assign(wish, { name: "", role: "manager", password: "" });
      await refresh();
    }))));
  form.addEventListener("submit", (event) => event.preventDefault());
  refresh();
  return el("section", { class: "card stack users" }, el("h2", {}, "Users"), list, el("h3", {}, "Add a user"), form, message);
}

const section = (title, ...content) => el("section", { class: "card stack" }, el("h2", {}, title), ...content);

start(async (person, place) => {
  const { user } = person;
  const own = user.role === "annotator" ? null : tokens();
  show(place,
    el("div", { class: "line between page-head" },
      el("div", {}, el("h1", {}, user.name), el("p", { class: "muted" }, `Your role here: ${user.role}.`)),
      action("Sign out", () => post("/logout").then(() => location.assign("/")))),
    el("div", { class: "stack" }, el("div", { class: "halves" }, password(() => own?.refresh()), own?.element ?? null), user.role === "admin" ? users(person) : null, leaving(user)));
});
