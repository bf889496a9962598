// One campaign: its head, its tabs, and the one poll that feeds the numbers.

import { get, patch, remembered } from "../shared/api.js";
import { el, show, toast } from "../shared/dom.js";
import { confirm } from "../shared/dialogs.js";
import { answersTab } from "./answers.js";
import { exportsTab } from "./exports.js";
import { flagsTab } from "./flags.js";
import { words } from "../shared/fields.js";
import { invitationsTab, welcome } from "./invitations.js";
import { Overview } from "./overview.js";
import { peopleTab } from "./people.js";
import { poll } from "../shared/poll.js";
import { start, statusBadge } from "./page.js";
import { tuningTab } from "./settings.js";

/** What the tabs share: the campaign's record, its paths, and how to change its status. */
class Shared {
  constructor(record, person) {
    this.record = record;
    this.person = person;
    this.name = record.name;
    this.root = `/campaigns/${encodeURIComponent(record.name)}`;
    this.status = record.status;
    this.finished = record.finished ?? null;
    this.heading = el("h1", {}, record.title || record.name);
    this.badge = el("span", { "aria-live": "polite" });
    this.buttons = el("div", { class: "line" });
    this.poll = null;
    this.listeners = [];
    this.#drawHead();
  }

  setStatus(status, finished = null) {
    if (status === this.status && finished === this.finished) return;
    this.status = status;
    this.finished = finished;
    this.#drawHead();
    for (const listener of this.listeners) listener();
  }

  /** The title was changed. */
  renamed(title) {
    this.heading.textContent = title || this.name;
    document.title = `${title || this.name} · askone`;
  }

  async turn(status) {
    try {
      await patch(this.root, { status });
      this.setStatus(status);
      this.poll?.now();
    } catch (error) {
      toast(words(error));
    }
  }

  /** Closing is asked about first: people who are answering are sent away. */
  close() {
    confirm({
      title: "Close this campaign?", button: "Close it",
      say: "Nobody is asked any more. Everything stays here and can be exported; you can open it again later.",
      run: async () => {
        await patch(this.root, { status: "closed" });
        this.setStatus("closed");
      },
    });
  }

  #drawHead() {
    show(this.badge, statusBadge(this.status, this.finished));
    const running = this.status === "running";
    // At the end there is nothing to pause and nobody to invite: what is left is to take the results away.
    const over = running && this.finished;
    show(this.buttons,
      over ? null : el("button", { type: "button", class: "button", onclick: () => this.turn(running ? "paused" : "running") }, running ? "Pause" : this.status === "closed" ? "Open again" : "Resume"),
      over ? el("button", { type: "button", class: "button", onclick: () => this.close() }, "Close") : el("a", { class: "button", href: `/answer/${encodeURIComponent(this.name)}` }, "Answer"),
      over ? el("a", { class: "button primary", href: "#export" }, "Take the results") : el("a", { class: "button primary", href: "#invitations" }, "Invite people"));
  }
}

/**
 * Tabs that are in the address: a link to #people opens there, and going back goes back.
 * `list`: [[id, name, open(panel)], ...]; open fills the panel, and may give a function that is called on leaving.
 */
function tabs(list, label) {
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
    // What stands behind a question mark is for the tab: #answers?person=p1
    const wanted = location.hash.slice(1);
    const at = Math.max(0, list.findIndex(([id]) => id === wanted.split("?")[0]));
    const [id, , fill] = list[at];
    if (now === (wanted || id)) return;
    now = wanted || id;
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

start(async (person, place) => {
  const name = decodeURIComponent(location.pathname.split("/")[2] ?? "");
  const record = await get(`/campaigns/${encodeURIComponent(name)}`);
  document.title = `${record.title || record.name} · askone`;
  const shared = new Shared(record, person);
  const overview = new Overview(shared);
  const note = el("p", { class: "reconnecting", role: "status", hidden: true });
  const board = tabs([
    ["overview", "Overview", (panel) => overview.open(panel)],
    ["answers", "Answers", (panel) => answersTab(panel, shared)],
    ["people", "People", (panel) => peopleTab(panel, shared)],
    ["invitations", "Invitations", (panel) => invitationsTab(panel, shared)],
    ["flags", "Flags", (panel) => flagsTab(panel, shared)],
    ["export", "Export", (panel) => exportsTab(panel, shared)],
    ["settings", "Settings", (panel) => tuningTab(panel, shared)],
  ], "Parts of the campaign");
  const first = welcome(shared);
  show(place,
    el("div", { class: "campaign-head" },
      el("div", { class: "line between small" }, el("a", { href: "/manage" }, "All campaigns"), el("a", { href: `/manage/new?like=${encodeURIComponent(record.name)}` }, "New campaign like this")),
      el("div", { class: "line between" }, el("div", { class: "line" }, shared.heading, shared.badge), shared.buttons)),
    first, board.bar, board.panel, note);
  board.open();
  const latest = remembered();
  shared.poll = poll({
    fetch: () => latest(overview.path()),
    use: (data) => {
      shared.setStatus(data.status, data.finished ?? null);
      if (data.finished) first?.remove();
      overview.update(data);
    },
    state: (error) => {
      note.hidden = !error;
      if (error) note.textContent = error.passing ? "Reconnecting … The numbers are as of the last answer from the server." : words(error);
    },
  });
});
