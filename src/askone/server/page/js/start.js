// The beginning of every manager's page: who is there, the bar at the top, and what to do when something fails.

import { me, toLogin } from "./api.js";
import { byId, el } from "./dom.js";
import { bad, words } from "./fields.js";
import { show } from "./make.js";
import { top } from "./top.js";

/** Runs `begin(person, place)` for a person who is signed in; others go to the sign-in page. */
export async function start(begin) {
  const place = byId("main");
  try {
    const person = await me();
    if (!person.user) {
      toLogin();
      return;
    }
    top(person);
    await begin(person, place);
  } catch (error) {
    if (error.status === 401) {
      toLogin();
      return;
    }
    if (!("status" in error)) console.error(error);
    show(place, bad(words(error)), el("p", {}, el("a", { class: "button", href: location.href }, "Try again")));
  }
  place.removeAttribute("aria-busy");
}

/** The status of a campaign as a badge: a word and a colour. */
export function statusBadge(status) {
  const [word, kind] = { running: ["Running", "good"], paused: ["Paused", "warn"], closed: ["Closed", ""] }[status] ?? [status, ""];
  return el("span", { class: `badge ${kind}` }, word);
}

/** A bar that is filled to this share. */
export function bar(share, label) {
  const fill = el("div", { class: "fill" });
  fill.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
  return el("div", { class: "bar", role: "img", "aria-label": label }, fill);
}
