// A question as a sentence in the language of the page. Its parts stand out where the template has a place for them.

import { el } from "../shared/dom.js";
import { local } from "../shared/format.js";
import { isKnown, put, t } from "../shared/language.js";

const ONE = "Is it {set}?"; // the usual question about one class
const FEW = 3; // names of a set that stand in the line of the sentence
const MANY = 6; // names that are written smaller

/** A pattern for a text that is no part of a longer word. */
export const whole = (text) => `(?<![\\p{L}\\p{N}])${text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}(?![\\p{L}\\p{N}])`;

const amount = (shown, unit) => el("strong", { class: "amount" }, local(shown) + (unit ? ` ${unit}` : ""));
const chip = (name) => el("span", { class: "chip", dir: "auto" }, name);

/** What is compared. Other languages than English have its name alone, as they cannot know the article. */
function named(name) {
  if (name === "the value") return t("the value");
  if (name.startsWith("minus ")) return t("minus {amount}", { amount: named(name.slice(6)) });
  return name.startsWith("the ") ? t("the {noun}", { noun: name.slice(4) }) : name;
}

/** The names as chips, with commas between them for those who listen; many stand under the sentence. */
function members(names) {
  const chips = names.flatMap((name, n) => [n > 0 ? el("span", { class: "visually-hidden" }, t(", ")) : "", chip(name)]);
  return names.length > FEW ? [el("span", { class: names.length > MANY ? "members many" : "members" }, chips)] : chips;
}

/** What stands in the places of a template. */
function places({ threshold, range, set, title, pair }) {
  if (threshold) {
    const { shown, unit, name, side } = threshold;
    return { threshold: () => amount(shown, unit), amount: named(name), side: side === "below" ? t("below") : t("above") };
  }
  if (range) {
    const { low, high, unit, name } = range;
    const ends = { low: () => amount(low), high: () => amount(high, unit) };
    return { ...ends, threshold: () => put(t("{low} and {high}"), ends), amount: named(name), side: t("between") };
  }
  if (set) return { set: () => members(set) };
  if (title) return { title: () => el("bdi", {}, title) };
  return pair ? { first: () => el("bdi", {}, pair.left), second: () => el("bdi", {}, pair.right) } : {};
}

/** Names with words between them, as in "Is it a circle or an oval?"; the names follow where the sentence lacks one. */
function withNames(text, names) {
  const parts = [];
  let rest = text;
  for (const name of names) {
    const at = rest.search(new RegExp(whole(name), "u"));
    if (at < 0) return [text, ...members(names)];
    parts.push(rest.slice(0, at), chip(name));
    rest = rest.slice(at + name.length);
  }
  return [...parts, rest];
}

/** What ends a sentence stays with the names before it, where these stand in lines of their own. */
function together(parts) {
  if (parts.at(-2)?.classList?.contains("members")) parts.at(-2).append(parts.pop());
  return parts;
}

/** The parts of the heading; the usual one is about all rows where there are several. */
export function sentence(question) {
  if (question.bag && question.template === ONE) return together(put(t("Are all of these {set}?"), places(question)));
  if (question.template) return together(put(t(question.template), places(question)));
  return question.set ? withNames(question.sentence, question.set) : [question.sentence];
}

/** The same as one text. */
export const plain = (question) => sentence(question).map((part) => part.textContent ?? part).join("");

/** Whether these are the campaign's own words, in whatever language they are. */
export const isOwn = (question) => !isKnown(question.template);

/** The words for yes and for no. */
export function answers(question) {
  return question.kind !== "pair" && question.answers.join() === "Yes,No" ? [t("Yes"), t("No")] : question.answers;
}

/** What stands under a question about several rows: that it is about all of them, and about which after a no. */
export function bagHint(question, bag) {
  const part = bag.asked.length < question.bag.length;
  return [el("span", { class: "hint" }, part ? t("Only the marked ones now.") : t("Yes only if it is so for all of them."))];
}
