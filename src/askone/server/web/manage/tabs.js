// Tabs that are in the address: a link to #people opens there, and going back goes back.

import { el } from "../shared/dom.js";

/** `tabs`: [[id, name, open(panel)], ...]; open fills the panel, and may give a function that is called on leaving. */
export function tabs(list, label) {
  const bar = el("div", { class: "tabs", role: "tablist", "aria-label": label });
  const panel = el("div", { class: "tab-panel", role: "tabpanel", id: "panel", tabindex: "-1" });
  let leave = null;
  let now = null;
  const buttons = list.map(([id, name]) =>
    el("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": "panel", onclick: () => { location.hash = id; } }, name));
  bar.append(...buttons);
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = buttons.indexOf(document.activeElement);
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.focus();
    next.click();
  });

  function open() {
    const wanted = location.hash.slice(1);
    const at = Math.max(0, list.findIndex(([id]) => id === wanted));
    const [id, , fill] = list[at];
    if (id === now) return;
    now = id;
    if (leave) leave();
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === at));
      button.tabIndex = i === at ? 0 : -1;
    });
    buttons[at].scrollIntoView({ block: "nearest", inline: "nearest" });
    panel.setAttribute("aria-labelledby", `tab-${id}`);
    panel.replaceChildren();
    leave = fill(panel) ?? null;
  }

  window.addEventListener("hashchange", open);
  return { bar, panel, open };
}
