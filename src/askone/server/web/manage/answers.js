// Answers to look through: by person, by what is odd about them, row by row; and questions that a manager decides.

import { get, post } from "../shared/api.js";
import { el, sharp, show, stackedTable, toast } from "../shared/dom.js";
import { opened } from "../shared/dialogs.js";
import { action, bad, choice, field, words } from "../shared/fields.js";
import { count, grouped, moment, percent, rounded, withUnit } from "../shared/format.js";
import { pager } from "./page.js";
import { thumbnail } from "./predictions.js";

const PAGE = 20;
const SORTS = [["all", "All, the latest first"], ["undecided", "To decide: disputed or surprising"], ["disagreement", "People disagree"], ["flagged", "Reported"], ["wrong", "Known answers missed"], ["slow", "Slowest first"], ["surprising", "Surprising to the model"]];
const EMPTY = {
  all: "Nobody has answered yet.", undecided: "Nothing is left to decide: people agree, and no answer surprises the model much.", disagreement: "Nobody disagrees; that needs more than one person per question.", flagged: "Nothing is reported that was not seen to.",
  wrong: "No known answer was missed.", slow: "No answer has a time.", surprising: "No answer surprises the model.",
};

const word = (one, answer) => (answer === null ? "–" : one.words[answer ? 0 : 1]);
const said = (one) => el("ul", { class: "plain said" }, one.given.map((given) =>
  el("li", { class: given.excluded ? "muted" : null }, el("strong", { dir: "auto" }, word(one, given.answer)), ` ${given.name || given.who}`,
    given.took ? el("span", { class: "muted small number" }, ` ${given.took.toFixed(1)} s`) : null)));

/** What counts: what people said, or what a manager decided; a known label decides nothing. */
function verdict(one) {
  if (one.gold !== null) return el("span", { class: "muted small" }, `known: ${word(one, one.gold)}`);
  return el("span", {}, el("strong", { dir: "auto" }, word(one, one.decided)), one.ruling === null ? null : el("span", { class: "badge info" }, "decided by a manager"));
}

/** What the answers say of one person. */
function portrait(person) {
  const tile = (name, value, note) => el("div", { class: "card tile stat" }, el("dt", { class: "name" }, name), el("dd", { class: "value" }, value), el("dd", { class: "muted small" }, note));
  return el("dl", { class: "tiles", "aria-label": `Numbers of ${person.name || person.id}` },
    tile("Answers", count(person.answers), `${count(person.skips)} skipped`),
    person.rates ? tile("Bits an answer", person.rates.bits.toFixed(2), `surely ${person.rates.bits_interval.map((end) => end.toFixed(2)).join(" to ")}`) : tile("Bits an answer", "–", "unknown so far"),
    tile("Median time", person.median_seconds ? `${person.median_seconds.toFixed(1)} s` : "–", `${count(person.fast)} too fast to be read`),
    tile("Known answers met", person.gold_asked ? percent(person.gold_right / person.gold_asked) : "–", `of ${count(person.gold_asked)}`),
    tile("Agreement", person.agreement_of ? percent(person.agreement) : "–", `of ${count(person.agreement_of)} with others`),
    tile("Says yes", percent(person.yes_rate), "far from the others’ may mean guessing"));
}

export function answersTab(panel, shared) {
  const { root, record: { settings: { labels } } } = shared;
  const asked = (one) => (labels.kind === "number" ? grouped(one.sentence) : one.sentence);
  const wish = { which: "all", person: new URLSearchParams(location.hash.split("?")[1] ?? "").get("person") ?? "", skip: 0 };
  const [place, person, pages, people] = [el("div", { "aria-live": "polite" }), el("div"), el("div", { class: "line between" }), el("div", { class: "field" })];
  let known = [];
  let turn = 0;

  const again = (change) => {
    Object.assign(wish, { skip: 0 }, change);
    refresh();
  };
  show(panel, el("div", { class: "stack" },
    el("div", { class: "fields" }, field({ label: "Which answers" }, choice(wish.which, SORTS, (which) => again({ which }))), people), person, place, pages));

  function drawPeople() {
    const names = known.map((one) => [one.id, one.name || one.id]);
    show(people, ...field({ label: "Whose" }, choice(wish.person, [["", "Everybody’s"], ...names], (chosen) => again({ person: chosen }))).childNodes);
  }

  async function refresh() {
    const mine = ++turn;
    const one = known.find(({ id }) => id === wish.person);
    show(person, one ? portrait(one) : null);
    const query = new URLSearchParams({ which: wish.which, first: PAGE, skip: wish.skip, ...(wish.person ? { person: wish.person } : {}) });
    try {
      const found = await get(`${root}/answers?${query}`);
      if (mine !== turn) return;
      show(place, found.answers.length ? table(found.answers) : el("div", { class: "card empty" }, EMPTY[wish.which]));
      drawPages(found);
    } catch (error) {
      if (mine === turn) show(place, bad(words(error)));
    }
  }

  const table = (answers) => stackedTable("Answers", ["Row", "Question", "Said", "Counts as", ["", {}, "Open"]], answers.map((one) => el("tr", {},
    el("th", { scope: "row" }, el("span", { class: "row-name" }, thumbnail(one), el("span", {}, one.key))),
    el("td", { class: "prose" }, asked(one), one.flags ? el("span", { class: "badge warn" }, "reported") : null),
    el("td", {}, said(one)), el("td", {}, verdict(one), one.chance < 0.5 ? el("p", { class: "muted small" }, `the model gave it ${percent(one.chance)}`) : null,
      wish.which === "undecided" ? decide(one, refresh) : null),
    el("td", {}, el("button", { type: "button", class: "button small", "aria-label": `Open row ${one.key}, question ${one.number}`, onclick: () => open(one.position) }, "Open")))), { class: "answers-table" });

  const drawPages = ({ total, answers }) =>
    show(pages, ...pager({ size: PAGE, skip: wish.skip, shown: answers.length, total, said: (range) => `${range} of ${count(total)}` }, (skip) => again({ skip })));

  /** A row with its history; questions are decided here. */
  async function open(position) {
    const content = el("div", { class: "stack" });
    opened("Row", content, () => refresh());
    const draw = async () => {
      try {
        const row = await get(`${root}/rows/${position}/history`);
        show(content, ...story(row, draw));
      } catch (error) {
        show(content, bad(words(error)));
      }
    };
    await draw();
  }

  /** What decides a question; a known label is decided. */
  function decide(one, after) {
    const rule = (answer) => async () => {
      await post(`${root}/questions/${one.number}/ruling`, { answer }, { patience: 600_000 }).catch((error) => toast(words(error)));
      shared.poll.now();
      await after();
    };
    return one.gold !== null ? null : el("div", { class: "line", role: "group", "aria-label": `Decide: ${asked(one)}` }, el("span", { class: "small" }, "Decide:"),
      [true, false].map((answer) => action(word(one, answer), rule(answer), { class: one.ruling === answer ? "button small primary" : "button small", "aria-pressed": String(one.ruling === answer) })),
      one.ruling === null ? null : action("As people said", rule(null), { class: "button small quiet" }));
  }

  function story(row, draw) {
    return [
      el("p", { class: "strong" }, row.key),
      typeof row.image === "string" && /^\/(?!\/)/.test(row.image) ? sharp(el("img", { class: "story-picture", src: row.image, alt: `Picture of ${row.key}` })) : null,
      el("dl", { class: "story-fields" }, row.row.flatMap((one) => [el("dt", { class: "muted small", dir: "auto" }, one.name), el("dd", { dir: "auto" }, String(one.value))])),
      el("p", {}, "Predicted: ", el("strong", {}, Array.isArray(row.prediction) ? row.prediction.join(" › ") : typeof row.prediction === "number" ? withUnit(rounded(row.prediction, 4), labels.unit) : String(row.prediction))),
      ...row.asked.map((one) => el("section", { class: "card flat stack" },
        el("h3", {}, asked(one)), el("p", { class: "muted small" }, one.given.map((given) => moment(given.at)).join(" · ")), said(one), el("p", {}, "Counts as ", verdict(one)), decide(one, draw))),
    ];
  }

  get(`${root}/people`).then((found) => {
    known = found;
    drawPeople();
    refresh();
  }).catch((error) => show(place, bad(words(error))));
}
