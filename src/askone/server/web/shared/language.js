// The language of the pages for people who answer: words from its catalogue, numbers and plural forms from the browser.
// A page that never calls `use` is English, with the reader's own numbers.

import { ApiError } from "./api.js";

export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español", zh: "中文", ar: "العربية" };

/** For a field that chooses one: [value, words]. */
export const languageChoices = () => [["auto", "Each reader’s own"], ...Object.entries(LANGUAGES)];

const ENGLISH = { direction: "ltr", words: {} };

const root = document.documentElement;
const integers = (language) => new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const base = (one) => one.split("-")[0].toLowerCase();

let tag; // of the language with its region: numbers are written so
let words = new Map(); // English, and what it is in this language; plural forms by their category
let whole = integers();
let written = null; // what stands in the page's HTML, and its English

export const locale = () => tag;
export const isMirrored = () => root.dir === "rtl";

/** A whole number as this language writes it. */
export const count = (n) => whole.format(n);

/** The text cut at its places, with what belongs there: put("{a} or {b}", {a: "tea", b: node}). */
export const put = (text, values) =>
  text.split(/\{(\w+)\}/).flatMap((part, n) => {
    if (n % 2 === 0) return part;
    const value = Object.hasOwn(values, part) ? values[part] : `{${part}}`;
    return typeof value === "function" ? value() : value;
  });

/** English words in the language of the page. */
export const t = (text, values = {}) => put(words.get(text) ?? text, values).join("");

/** The same for a number of things: {n} is the number. */
export function tn(one, many, n, values = {}) {
  const form = new Intl.PluralRules(tag ?? "en").select(n);
  return put(words.get(one)?.[form] ?? (form === "one" ? one : many), { n: count(n), ...values }).join("");
}

/** Whether these words are said in the language of the page. */
export const isKnown = (text) => words.has(text);

/** Why something failed. */
export function told({ message }) {
  return base(tag ?? "en") === "en" || isKnown(message) ? t(message) : t("That did not work: {reason}", { reason: message });
}

/** The reader's language where it is one of these, or the one that is wanted. Whether the page now speaks another. */
export async function use(wanted = "auto") {
  const known = navigator.languages.filter((one) => LANGUAGES[base(one)]);
  const chosen = wanted === "auto" ? known[0] ?? "en" : known.find((one) => base(one) === wanted) ?? wanted;
  if (chosen === tag) return false;
  const found = base(chosen) === "en" ? ENGLISH : await catalogue(base(chosen));
  words = new Map(Object.entries(found.words));
  [tag, root.lang, root.dir] = [chosen, base(chosen), found.direction];
  whole = integers(tag);
  written ??= [...standing()];
  for (const [text, write] of written) write(t(text));
  return true;
}

async function catalogue(language) {
  const response = await fetch(`/static/languages/${language}.json`).catch(() => ({ status: 0 }));
  if (response.ok) return response.json();
  const failure = new ApiError({ status: response.status, code: "offline", message: "The server cannot be reached." });
  if (failure.passing) throw failure;
  return ENGLISH;
}

/** Texts and labels of the page's HTML: [English, function that writes another]. */
function* standing() {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    const text = node.data.trim().replace(/\s+/g, " ");
    if (text) yield [text, (other) => { node.data = other; }];
  }
  for (const node of document.querySelectorAll("[aria-label]")) yield [node.getAttribute("aria-label"), (other) => node.setAttribute("aria-label", other)];
}
