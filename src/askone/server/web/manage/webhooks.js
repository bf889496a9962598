// Addresses that are told when something happens.

import { del, get, post } from "../shared/api.js";
import { confirm, copyable } from "../shared/dialogs.js";
import { el } from "../shared/dom.js";
import { action, bad, check, clearErrors, field, showError, text, words } from "../shared/fields.js";
import { show } from "../shared/elements.js";

const EVENTS = [["answer", "Every answer"], ["spent", "Budget spent"], ["closed", "Closed"]];

export function webhooks(shared) {
  const root = `${shared.root}/webhooks`;
  const list = el("div");
  const message = el("div", { "aria-live": "polite" });
  let url = "";
  const chosen = new Set(["closed", "spent"]);

  async function refresh() {
    try {
      const all = await get(root);
      show(list, all.length ? el("ul", { class: "plain rows" }, all.map(line)) : el("p", { class: "muted" }, "No address is told anything."));
    } catch (error) {
      show(list, bad(words(error)));
    }
  }

  const line = (hook) =>
    el("li", { class: "line between" }, el("span", {}, el("span", { class: "mono" }, hook.url), " ", el("span", { class: "badges" }, (hook.events ?? []).map((event) => el("span", { class: "badge" }, event)))),
      el("button", { type: "button", class: "button small danger", "aria-label": `Remove ${hook.url}`, onclick: () => confirm({
        title: "Remove this webhook?", say: hook.url, button: "Remove", danger: true,
        run: async () => {
          await del(`${root}/${encodeURIComponent(hook.id)}`);
          await refresh();
        },
      }) }, "Remove"));

  const form = el("div", { class: "stack" },
    field({ label: "Address", path: "url", hint: "https only. Each message is signed and sent again until it is taken." }, text("", (value) => { url = value.trim(); }, { type: "url", placeholder: "https://example.org/askone", maxlength: "2000" })),
    el("fieldset", { class: "field", dataset: { path: "events" } }, el("legend", {}, "When"),
      el("div", { class: "line" }, EVENTS.map(([event, name]) => check(name, chosen.has(event), (on) => (on ? chosen.add(event) : chosen.delete(event))))), el("span", { class: "error", role: "alert" })),
    el("div", {}, action("Add webhook", async () => {
      clearErrors(form);
      try {
        const made = await post(root, { url, events: [...chosen] });
        show(message, el("div", { class: "notice good stack" }, copyable("Secret for checking signatures", made.secret), el("p", { class: "small" }, "Copy it now: it is shown this once.")));
        await refresh();
      } catch (error) {
        if (!showError(form, error.argument, words(error))) show(message, bad(words(error)));
      }
    })));
  refresh();
  return el("section", { class: "card stack" }, el("h2", {}, "Webhooks"), list, form, message);
}
