// Who answers, how fast, how well; and taking one person's answers out of the model.

import { get, post } from "../shared/api.js";
import { confirm } from "../shared/dialogs.js";
import { dataTable, el, show, toast } from "../shared/dom.js";
import { words } from "../shared/fields.js";
import { poll } from "../shared/poll.js";
import { membersCard } from "./members.js";
import { ago, count, number, percent, plural } from "../shared/format.js";

const HEADS = [
  ["Person", ""], ["Answers", "answers that count, and skips"], ["Yes", "share of yes: far from the others' may mean guessing"],
  ["Median time", "seconds from question to answer"], ["Fast", "answers quicker than a person can read"], ["Gold right", "known answers met"],
  ["Agreement", "with others on the same question"], ["Bits", "what an answer tells, by how often they are right: 1 is most, at 0.1 ten answers tell what one of a careful person does"], ["Last seen", ""], ["", ""],
];

const share = (right, of) => (of ? `${count(right)} of ${count(of)}` : "–");

/** Fills the panel; gives what to call on leaving. */
export function peopleTab(panel, shared) {
  const place = el("div", { class: "stack" }, el("p", { class: "muted" }, "Loading …"));
  const note = el("p", { class: "reconnecting", role: "status", hidden: true }, "Reconnecting …");
  show(panel, el("div", { class: "stack" }, place, note, membersCard(shared.root)));
  let last = "";

  function change(person, exclude) {
    const { id, answers } = person;
    const name = person.name || id;
    confirm({
      title: exclude ? `Exclude ${name}?` : `Include ${name} again?`,
      say: exclude
        ? [`The model will be replayed without the ${plural(answers, "answer")} of ${name}: it becomes what it would be had they never answered.`, "Nothing is deleted. You can include them again at any time, and the log keeps both decisions."]
        : `The model will be replayed with the ${plural(answers, "answer")} of ${name}.`,
      button: exclude ? "Exclude and replay" : "Include and replay", danger: exclude,
      run: async () => {
        const made = await post(`${shared.root}/people/${encodeURIComponent(id)}/${exclude ? "exclude" : "include"}`, {}, { patience: 600_000 });
        toast(`Replayed ${exclude ? "without" : "with"} ${plural(made.answers, "answer")}.`);
        again.now();
        shared.poll.now();
      },
    });
  }

  const between = ([low, high]) => `${percent(low)} to ${percent(high)}`;
  const rights = (rates) => `Right where yes is true: ${percent(rates.sensitivity)} (${between(rates.sensitivity_interval)}); where no is: ${percent(rates.specificity)} (${between(rates.specificity_interval)}).`;

  const line = (person) => {
    const name = person.name || person.id;
    return el("tr", { class: person.excluded ? "excluded" : "" },
      el("th", { scope: "row" }, el("a", { class: "person", href: `#answers?person=${encodeURIComponent(person.id)}` }, name), " ", person.excluded ? el("span", { class: "badge bad" }, "excluded") : null),
      el("td", { class: "number" }, count(person.answers), person.skips ? el("span", { class: "muted small nowrap" }, ` +${count(person.skips)} skipped`) : null),
      el("td", { class: "number" }, percent(person.yes_rate)),
      el("td", { class: "number" }, person.median_seconds === null ? "–" : el("span", { class: person.hasty ? "badge warn" : null }, `${number(person.median_seconds, 2)} s`)),
      el("td", { class: "number" }, person.fast ? el("span", { class: "badge warn" }, count(person.fast)) : "0"),
      el("td", { class: "number" }, share(person.gold_right, person.gold_asked)),
      el("td", { class: "number" }, person.agreement_of ? `${percent(person.agreement)} of ${count(person.agreement_of)}` : "–"),
      el("td", { class: "number", title: person.rates ? rights(person.rates) : null }, person.rates ? el("span", { class: person.rates.bits < 0.1 ? "badge warn" : null }, number(person.rates.bits, 2)) : "–"),
      el("td", { class: "nowrap" }, ago(person.last_seen)),
      el("td", {}, el("button", { type: "button", class: person.excluded ? "button small" : "button small danger", "aria-label": `${person.excluded ? "Include" : "Exclude"} ${name}`, onclick: () => change(person, !person.excluded) }, person.excluded ? "Include" : "Exclude")));
  };

  function draw(people) {
    const seen = JSON.stringify(people);
    if (seen === last) return;
    last = seen;
    if (!people.length) {
      show(place, el("div", { class: "card empty stack" }, el("h2", {}, "Nobody has answered yet"), el("p", {}, "Send an invitation link; no account is needed."), el("p", {}, el("a", { class: "button primary", href: "#invitations" }, "Invite people"))));
      return;
    }
    const focused = document.activeElement?.getAttribute("aria-label");
    show(place, el("p", { class: "muted small", id: "people-note" }, "Seldom yes, many fast answers or a low agreement are reasons to look closer, not proofs."), dataTable("People",
      HEADS.map(([name, hint]) => [name, { title: hint || null, class: hint ? "number" : null }]), [...people].sort((a, b) => b.answers - a.answers).map(line),
      { class: "people", "aria-label": "People", "aria-describedby": "people-note" }));
    if (focused) [...place.querySelectorAll("button")].find((button) => button.getAttribute("aria-label") === focused)?.focus();
  }

  const again = poll({
    fetch: () => get(`${shared.root}/people`), use: draw, period: 5000,
    state: (error) => {
      note.hidden = !error;
      if (error && !error.passing) note.textContent = words(error);
    },
  });
  return () => again.stop();
}
