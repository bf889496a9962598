// Links that let people in: made, shown once with a code for phones, and taken back.

import { del, post } from "../shared/api.js";
import { confirm, copyable } from "../shared/dialogs.js";
import { dataTable, el, show } from "../shared/dom.js";
import { action, attempt, field, fill, numeral, text } from "../shared/fields.js";
import { count, moment } from "../shared/format.js";

/** Whether nobody but this computer can open an address. */
const isLocal = (address) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);

const localNote = () => el("p", { class: "small local-note" }, el("strong", {}, "Only this computer can open this link."),
  " For others, start the server with ", el("code", {}, "--host 0.0.0.0"), " and open this page at the computer’s address in your network, or give the public address with ", el("code", {}, "--public-url"), ".");

/** The link, which is never shown again, and its code. The code is a picture: it cannot run anything. */
function shown({ link, url, qr }) {
  const address = new URL(url ?? link, location.origin).href;
  return el("div", { class: "invitation-shown notice good" },
    qr ? el("img", { class: "qr", alt: "The link as a QR code", src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(qr)}` }) : null,
    el("div", { class: "stack" }, copyable("Invitation link", address), el("p", { class: "small" }, "Copy it now: it is shown this once. Whoever has it can answer questions of this campaign, and nothing else."), isLocal(address) ? localNote() : null));
}

/** Without what was left empty: the server has its own defaults. */
const given = (wish) => Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== null));

/** A form that makes an invitation and shows it. */
function maker(shared, made) {
  const wish = { title: "", expires_hours: 168, most_uses: 20 };
  const place = el("div", { "aria-live": "polite" });
  const form = el("div", { class: "fields" },
    field({ label: "For whom (optional)", path: "title", hint: "A note for yourself." }, text("", (value) => { wish.title = value; }, { placeholder: "Course on Tuesday", maxlength: "100" })),
    field({ label: "Valid for hours", path: "expires_hours", hint: "168 are a week." }, numeral(wish.expires_hours, (value) => { wish.expires_hours = value; }, { min: "1", step: "1" })),
    field({ label: "For so many people", path: "most_uses", hint: "1 to 10,000." }, numeral(wish.most_uses, (value) => { wish.most_uses = value; }, { min: "1", step: "1" })),
    el("div", { class: "field end" }, action("Make a link", () => attempt(form, place, async () => {
      show(place, shown(await post(`${shared.root}/invitations`, given(wish))));
      made();
    }), { class: "button primary" })));
  return el("section", { class: "card stack" }, el("h2", {}, "Invite people"),
    el("p", { class: "muted" }, "People open the link and answer; they need no account and see nothing but questions."), form, place);
}

export function invitationsTab(panel, shared) {
  const list = el("div");
  const refresh = () => fill(list, `${shared.root}/invitations`, (all) => (all.length ? table(all) : el("p", { class: "empty" }, "No invitation so far.")));
  show(panel, el("div", { class: "stack" }, maker(shared, refresh), list));

  const table = (all) =>
    dataTable("Invitations", ["For", ["Used", { class: "number" }], "Valid until", "State", ""], all.map((one) => el("tr", {},
      el("th", { scope: "row" }, one.title || "–"),
      el("td", { class: "number" }, one.most_uses ? `${count(one.uses)} of ${count(one.most_uses)}` : count(one.uses)),
      el("td", { class: "nowrap" }, one.expires ? moment(one.expires) : "no end"),
      el("td", {}, state(one)),
      el("td", {}, el("button", { type: "button", class: "button small danger", "aria-label": `Revoke the invitation ${one.title || one.id}`, onclick: () => revoke(one) }, "Revoke")))), { caption: el("caption", {}, "Invitations") });

  const revoke = (one) => confirm({
    title: "Revoke this invitation?", say: "Nobody can join with it any more. People who joined already stay.", button: "Revoke", danger: true,
    run: () => del(`${shared.root}/invitations/${encodeURIComponent(one.id)}`).then(refresh),
  });
  refresh();
}

function state({ expires, uses, most_uses: most }) {
  if (expires && expires < Date.now() / 1000) return el("span", { class: "badge" }, "expired");
  if (most && uses >= most) return el("span", { class: "badge" }, "used up");
  return el("span", { class: "badge good" }, "open");
}

/** Right after a campaign was made: the first link, at one press. */
export function welcome(shared) {
  if (new URLSearchParams(location.search).get("made") !== "1") return null;
  history.replaceState(null, "", location.pathname + location.hash);
  const place = el("div", { "aria-live": "polite" });
  const card = el("section", { class: "card stack welcome", "aria-label": "First steps" },
    el("div", { class: "line between" }, el("h2", {}, "Your campaign is running. Who answers?"), el("button", { type: "button", class: "button quiet small", onclick: () => card.remove() }, "Not now")),
    el("div", { class: "line" },
      action("Make an invitation link", (button) => attempt(card, place, async () => {
        show(place, shown(await post(`${shared.root}/invitations`, { title: "First invitation", expires_hours: 168, most_uses: 20 })));
        button.remove();
      }), { class: "button primary" }),
      el("a", { class: "button", href: `/answer/${encodeURIComponent(shared.name)}` }, "Answer a few yourself"),
      el("span", { class: "muted small" }, "The link is valid for a week and twenty people.")),
    place);
  // It belongs to the overview: the other tabs have their own beginnings.
  window.addEventListener("hashchange", () => { card.hidden = !["", "#overview"].includes(location.hash); });
  return card;
}
