// The beginning of every manager's page: who is there, the bar at the top, and what to do when something fails.

import { me, toLogin } from "../shared/api.js";
import { byId, el, show } from "../shared/dom.js";
import { bad, words } from "../shared/fields.js";
import { top } from "../shared/header.js";
import { count, END } from "../shared/format.js";

/** Runs `begin(person, place)` for a person who is signed in; others go to the sign-in page. */
export async function start(begin) {
  const place = byId("main");
  try {
    const person = await me();
    if (!person.user) {
      if (person.needs_setup) location.replace("/setup");
      else toLogin();
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
    const [href, next] = error.status === 404 ? ["/manage", "All campaigns"] : [location.href, "Try again"];
    show(place, el("div", { class: "stack" }, el("h1", {}, error.status === 404 ? "Nothing is here" : "That did not work"), bad(words(error)), el("p", {}, el("a", { class: "button", href }, next))));
  }
  place.removeAttribute("aria-busy");
}

/** The status of a campaign as a badge: a word and a colour. `finished`: why nobody is asked any more, or null. */
export function statusBadge(status, finished = null) {
  if (finished) return el("span", { class: "badge info" }, `Finished: ${END[finished] ?? finished}`);
  const [word, kind] = { running: ["Running", "good"], paused: ["Paused", "warn"], closed: ["Closed", ""], broken: ["Cannot be opened", "bad"] }[status] ?? [status, ""];
  return el("span", { class: `badge ${kind}` }, word);
}

/** Which `size` of `total` are shown, from `skip` on (`said(range)` puts it into words), and buttons that go on; nothing where all are. */
export function pager({ size, skip, shown, total, said }, go) {
  if (total <= size) return [];
  const turn = (name, step, off) => el("button", { type: "button", class: "button small", disabled: off, onclick: () => go(Math.max(0, skip + step)) }, name);
  return [
    el("span", { class: "muted small number" }, said(`${count(skip + 1)} to ${count(skip + shown)}`)),
    el("span", { class: "line" }, turn("Back", -size, skip === 0), turn("More", size, skip + shown >= total)),
  ];
}

/** A bar that is filled to this share. */
export function bar(share, label) {
  const fill = el("div", { class: "fill" });
  fill.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
  return el("div", { class: "bar", role: "img", "aria-label": label }, fill);
}
