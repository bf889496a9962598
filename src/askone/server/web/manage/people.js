// Who answers, how fast, how well, and what an answer of theirs tells; taking one person's answers out of the model.

import { get, post } from "../shared/api.js";
import { confirm } from "../shared/dialogs.js";
import { el, s, show, stackedTable, toast } from "../shared/dom.js";
import { words } from "../shared/fields.js";
import { poll } from "../shared/poll.js";
import { membersCard } from "./members.js";
import { ago, count, money, number, percent, plural, withUnit } from "../shared/format.js";

const share = (right, of) => (of ? `${count(right)} of ${count(of)}` : "–");
const small = (text) => el("div", { class: "muted small" }, text);
const bits = (value) => value.toFixed(2);

/** Where something from 0 to 1 lies, and within which ends that is known. */
const ends = (value, [low, high]) => s("svg", { class: "ends", viewBox: "0 0 100 6", width: "64", height: "6", preserveAspectRatio: "none", "aria-hidden": "true" },
  s("rect", { class: "track", width: 100, height: 6, rx: 3 }), s("rect", { class: "band", x: 100 * low, width: Math.max(2, 100 * (high - low)), height: 6, rx: 3 }),
  s("rect", { class: "mean", x: Math.min(97, 100 * value), width: 3, height: 6 }));

const right = (side, value, [low, high]) => el("div", { class: "nowrap" }, `${side} ${percent(value)} `, el("span", { class: "muted small" }, `${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)}`));

/** The columns: name, what it is, the cell, and whether anybody has something to show there. */
function columns(currency) {
  const price = (value) => (value >= 0.01 ? money(value, currency) : withUnit(number(value, 2), currency));
  return [
    ["Answers", "answers, and skips", (one) => [count(one.answers), one.skips ? small(`+${count(one.skips)} skipped`) : null]],
    ["Bits an answer", "what an answer tells, by how often they are right, and between which ends that surely lies: 1 is most, at 0.1 ten answers tell what one of a careful person does",
      ({ rates }) => (rates ? [el("span", { class: rates.bits < 0.1 ? "badge warn" : null }, bits(rates.bits)), small(`${bits(rates.bits_interval[0])} to ${bits(rates.bits_interval[1])}`), ends(rates.bits, rates.bits_interval)] : "unknown")],
    ["Right", "how often they say yes where yes is true (sensitivity) and no where no is (specificity), as far as the model can tell, and between which ends that surely lies",
      ({ rates }) => (rates ? [right("yes", rates.sensitivity, rates.sensitivity_interval), right("no", rates.specificity, rates.specificity_interval)] : "unknown"), ({ rates }) => rates],
    ["Says yes", "share of yes; and by how much more than half they would say it where yes and no are equally often true", ({ yes_rate: yes, rates }) => [percent(yes), rates ? small(`leans ${rates.yes_bias > 0 ? "+" : ""}${percent(rates.yes_bias)}`.replace("-", "−")) : null]],
    ["Known right", "answers that are known, or that a manager decided", (one) => share(one.gold_right, one.gold_asked), (one) => one.gold_asked],
    ["Agreement", "with others on the same question", (one) => (one.agreement_of ? [percent(one.agreement), small(`of ${count(one.agreement_of)}`)] : "–"), (one) => one.agreement_of],
    ["At odds", "answers that cannot all be right with others of theirs about the same row, such as “above 37: yes” and “above 30: no”. It happens to everybody; many may mean that the question is unclear", (one) => share(one.contradictions, one.contradictions_of), (one) => one.contradictions_of],
    ["Time", "middle of the seconds from question to answer; and how many answers came quicker than a person can read", (one) => (one.median_seconds === null ? "–" : [el("span", { class: one.hasty ? "badge warn" : null }, `${number(one.median_seconds, 2)} s`), one.fast ? small(`${count(one.fast)} too fast`) : null])],
    ["Cost a bit", "what an answer costs, over what it tells: a program's as it says itself, a person's the price of an answer", (one) => (one.cost_per_bit === null ? "–" : [price(one.cost_per_bit), small(`${price(one.cost)} each`)]), (one) => one.cost_per_bit],
  ];
}

/** Fills the panel; gives what to call on leaving. */
export function peopleTab(panel, shared) {
  const place = el("div", { class: "stack" }, el("p", { class: "muted" }, "Loading …"));
  const note = el("p", { class: "reconnecting", role: "status", hidden: true }, "Reconnecting …");
  show(panel, el("div", { class: "stack" }, place, note, membersCard(shared.root)));
  const all = columns(shared.record.settings.ask?.currency ?? "");
  let last = "";

  const turn = (person, verb) => post(`${shared.root}/people/${encodeURIComponent(person.id)}/${verb}`, {}, { patience: 600_000 });
  const changed = () => {
    again.now();
    shared.poll.now();
  };

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
        const made = await turn(person, exclude ? "exclude" : "include");
        toast(`Replayed ${exclude ? "without" : "with"} ${plural(made.answers, "answer")}.`);
        changed();
      },
    });
  }

  function resume(person) {
    const name = person.name || person.id;
    confirm({
      title: `Ask ${name} again?`, button: "Ask again",
      say: [`${name} gets questions again, and begins anew: only what they answer from here on can pause them once more.`, "Their earlier answers count as before, by what they are worth."],
      run: async () => {
        await turn(person, "resume");
        toast(`${name} is asked again.`);
        changed();
      },
    });
  }

  const why = ({ bits: most, below, answers, at }) =>
    small(`at most ${bits(most)} bits by ${plural(answers, "answer")}; the limit is ${number(below)} · ${ago(at)}`);

  const line = (person, shown) => {
    const name = person.name || person.id;
    const button = (text, on, kind = "") => el("button", { type: "button", class: `button small ${kind}`, "aria-label": `${text} ${name}`, onclick: on }, text);
    return el("tr", { class: person.excluded ? "excluded" : "" },
      el("th", { scope: "row" }, el("a", { class: "person", href: `#answers?person=${encodeURIComponent(person.id)}` }, name), " ",
        el("span", { class: "badges" }, person.kind === "program" ? el("span", { class: "badge info" }, "program") : null, person.paused ? el("span", { class: "badge warn" }, "paused") : null, person.excluded ? el("span", { class: "badge bad" }, "excluded") : null),
        person.paused ? why(person.paused) : small(ago(person.last_seen))),
      shown.map(([, , cell]) => el("td", { class: "number" }, cell(person))),
      el("td", {}, el("div", { class: "line acts" }, person.paused ? button("Ask again", () => resume(person)) : null, person.excluded ? button("Include", () => change(person, false)) : button("Exclude", () => change(person, true), "danger"))));
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
    const shown = all.filter(([, , , has]) => !has || people.some(has));
    const heads = [["Person", {}], ...shown.map(([name, hint]) => [name, { title: hint, class: "number" }]), ["", {}]];
    show(place, el("p", { class: "muted small", id: "people-note" }, "Few bits, many fast answers or a low agreement are reasons to look closer, not proofs. Under Settings you can have people paused whose answers surely tell too little."),
      stackedTable("People", heads, [...people].sort((a, b) => b.answers - a.answers).map((person) => line(person, shown)), { class: "people", "aria-label": "People", "aria-describedby": "people-note" }));
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
