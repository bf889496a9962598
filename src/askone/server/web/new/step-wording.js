// The words that people read.

import { el } from "../shared/dom.js";
import { choice, field, longText, text } from "../shared/fields.js";
import { languageChoices } from "../shared/language.js";
import { PLACES } from "../shared/setting-names.js";

export function wordingStep(draft) {
  const { settings } = draft;
  const { question } = settings;
  const { kind } = settings.labels;
  const places = [...new Set(PLACES[kind].match(/\{\w+\}/g))];
  const wording = text(question.wording, (value) => { question.wording = value; draft.changed(); }, { placeholder: "Empty: a sentence is made for you" });
  function put(place) {
    const { selectionStart: from, selectionEnd: to, value } = wording;
    wording.value = value.slice(0, from) + place + value.slice(to);
    question.wording = wording.value;
    wording.focus();
    wording.setSelectionRange(from + place.length, from + place.length);
    draft.changed();
  }
  const answer = (i) => (value) => {
    question.answers = question.answers.map((one, k) => (k === i ? value : one));
    draft.changed();
  };
  return el("div", { class: "stack" },
    field({ label: "Title of the campaign", path: "title", hint: "People see it above the questions." }, text(settings.title, (value) => { settings.title = value; draft.changed(); }, { placeholder: "What are these flats worth?" })),
    field({ label: "The question", path: "question.wording", hint: PLACES[kind] }, wording),
    el("div", { class: "line", role: "group", "aria-label": "Put in a place holder" }, places.map((place) => el("button", { type: "button", class: "button small mono", onclick: () => put(place) }, place))),
    kind === "order" ? null : el("div", { class: "fields", dataset: { path: "question.answers" } },
      field({ label: "Word for yes" }, text(question.answers[0], answer(0), { maxlength: "40" })),
      field({ label: "Word for no" }, text(question.answers[1], answer(1), { maxlength: "40" })),
      el("span", { class: "error", role: "alert" })),
    field({ label: "Language", path: "question.language", hint: "Of the pages for people who answer. Your own wording stays as it is; the preview is in English." }, choice(question.language ?? "auto", languageChoices(), (value) => { question.language = value; draft.changed(); })),
    field({ label: "Instructions", path: "question.instructions", hint: "What decides doubtful cases? Examples help. Markdown; ![what it shows](name) for the picture of a row. Always at hand for everybody who answers." }, longText(question.instructions, (value) => { question.instructions = value; draft.changed(); }, { rows: "5", maxlength: "20000" })));
}
