// The bar at the top of every page: the mark, links for this person, the theme.

import { el, icon, s } from "./dom.js";
import { t } from "./language.js";

const root = document.documentElement;

export const isDark = () => root.dataset.theme === "dark";

/** Pages that draw (charts) listen for the event "themechange" on document. */
function toggle() {
  root.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("askone-theme", root.dataset.theme);
  } catch {
    // Without storage the choice lasts for this page.
  }
  document.dispatchEvent(new Event("themechange"));
}

/** A button that turns between light and dark. */
export function themeToggle() {
  const button = el("button", { class: "button quiet icon theme-toggle", type: "button", onclick: toggle }, icon("sun", "sun"), icon("moon", "moon"));
  const name = () => button.setAttribute("aria-label", isDark() ? t("Use light colours") : t("Use dark colours"));
  document.addEventListener("themechange", name);
  name();
  return button;
}

/** Two halves of a circle, one for each answer. */
const mark = () => s("svg", { viewBox: "0 0 32 32", "aria-hidden": "true" },
  s("path", { class: "mark-no", d: "M14.500 3.100a13 13 0 000 25.800z" }),
  s("path", { class: "mark-yes", d: "M17.500 3.100a13 13 0 010 25.800z" }));

/** Fills <header class="top" id="top">. person: what me() gave, or null; extra: after the mark; end: before the theme. */
export function top(person = null, extra = [], end = []) {
  const header = document.getElementById("top");
  const user = person?.user ?? null;
  const links = [];
  const link = (path, text) => {
    const here = location.pathname === path || (path === "/" && location.pathname.startsWith("/manage"));
    links.push(el("a", { href: path, "aria-current": here ? "page" : null }, text));
  };
  if (user) link("/", t("Campaigns"));
  if (user) link("/account", t("Account"));
  header.replaceChildren(
    el("a", { class: "brand", href: "/", "aria-label": t("askone: start page") }, mark(), el("span", { class: "name" }, "askone")),
    ...extra,
    el("span", { class: "spread" }),
    links.length ? el("nav", { "aria-label": t("Main") }, links) : "",
    ...end,
    themeToggle(),
  );
}
