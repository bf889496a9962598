// The row of a question as elements. Everything that comes from outside goes in as text.

import { el, icon, sharp } from "../shared/dom.js";
import { local, localDate } from "../shared/format.js";
import { t } from "../shared/language.js";
import { plain, whole } from "./sentence.js";
import { lookCloser } from "./zoom.js";

const LONG = 90; // characters: more are a text to read, not a value
const CLIPPED = 4_000;
/** What a screen reader says when the question comes up: the sentence and a short account of the row. */
export function spoken(question, bag = null) {
  if (bag) return `${plain(question)} ${t("Several rows at once.")}`;
  const row = question.row.fields
    .filter((field) => field.kind !== "image")
    .map((field) => `${field.name}: ${field.value}`)
    .join("; ");
  const seen = question.row.image ? ` ${t("With a picture.")}` : "";
  return `${plain(question)}${seen} ${row.slice(0, 400)}`;
}

// ---- the row ----

/** An address that may be opened, or null: only the web, never javascript: or data:. */
function webAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}

function link(text) {
  const href = webAddress(text);
  if (href === null) return [text];
  const open = el("a", { class: "open", href, target: "_blank", rel: "noopener noreferrer" }, t("Open"), icon("open"),
    el("span", { class: "visually-hidden" }, ` ${t("in a new tab")}`));
  return [text, " ", open];
}

/** The words that a question is about, to be found in texts. */
function topics(question) {
  const name = (question.threshold ?? question.range)?.name?.replace(/^the /, "");
  const words = [...(question.set ?? []), question.pair?.left, question.pair?.right, name];
  return words.filter((word) => word && String(word).trim().length > 2);
}

/** A text with these words marked, where it has them. */
function marked(text, words) {
  if (!words.length) return [text];
  // Split by a pattern with one group: every second part is what it found.
  return text.split(new RegExp(`(${words.map(whole).join("|")})`, "giu")).map((part, n) => (n % 2 ? el("mark", {}, part) : part));
}

/** A very long text is cut, with a button for the rest. */
function reading(text, words) {
  if (text.length <= CLIPPED) return marked(text, words);
  const shown = el("span", {}, ...marked(`${text.slice(0, CLIPPED)}…`, words));
  const more = el("button", { class: "button small more", type: "button" }, t("Show all"));
  more.addEventListener("click", () => {
    shown.replaceChildren(...marked(text, words));
    more.remove();
  });
  return [shown, more];
}

function value(field, words) {
  const text = String(field.value ?? "");
  if (text === "") return [el("span", { class: "muted" }, "–")];
  if (field.kind === "url") return link(text);
  if (field.kind === "number") return [local(text)];
  if (field.kind === "date") return [localDate(text)];
  if (FLAG.test(text)) return [flag(text)];
  return reading(text, isLong(field) || words.alone ? words : []);
}

/** What spreadsheets and programs call true or false, in the reader's language. */
const FLAG = /^(true|false)$/i;
const flag = (text) => (text.toLowerCase() === "true" ? t("Yes") : t("No"));

const isLong = (field) => field.kind === "url" || (field.kind !== "number" && String(field.value ?? "").length > LONG);

function facts(fields, words) {
  return el("dl", { class: "facts" }, fields.map((field) =>
    // A number has no direction of its own: it stands where the name of its column does.
    el("div", { class: isLong(field) ? "fact long" : "fact", dir: "auto" },
      el("dt", {}, field.name),
      el("dd", field.kind === "number" ? { class: "number" } : { dir: "auto" }, value(field, words)))));
}

// Pictures of the questions that may come next are fetched ahead and kept as elements: showing one asks nobody.
const KEPT = 24; // two walls of nine, and some
const kept = new Map();

function load(address) {
  const picture = new Image();
  picture.decoding = "async";
  picture.draggable = false;
  picture.src = address;
  return sharp(picture);
}

/** Addresses come from the server's JSON: only this site's own paths are fetched. */
const own = (address) => typeof address === "string" && /^\/(?!\/)/.test(address);

export function picture(address) {
  if (!own(address)) return null;
  const element = kept.get(address) ?? load(address);
  kept.delete(address);
  kept.set(address, element);
  while (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return element;
}

/** After an error the next look fetches it anew. */
const forget = (address) => kept.delete(address);

function figure(address) {
  const image = picture(address);
  if (image === null) return null;
  image.alt = t("The picture that is asked about");
  const closer = el("button", { class: "button small closer", type: "button", "aria-label": t("Look closer at the picture"), onclick: () => lookCloser(image) }, icon("closer"));
  const box = el("figure", { class: image.complete ? "picture" : "picture coming" }, image, closer);
  image.onclick = () => lookCloser(image);
  image.addEventListener("load", () => box.classList.remove("coming"), { once: true });
  const broken = () => {
    forget(address);
    box.classList.remove("coming");
    box.replaceChildren(el("p", { class: "muted" }, t("The picture could not be loaded.")));
  };
  image.addEventListener("error", broken, { once: true });
  if (image.complete && image.naturalWidth === 0 && image.src) broken();
  return box;
}

/** Fills the card: a picture large, one text to read, or the fields of a table row. False where there is nothing. */
export function showRow(card, question) {
  const { row } = question;
  const words = topics(question);
  const fields = row.fields.filter((field) => field.kind !== "image" || !row.image);
  const parts = [];
  if (row.image) parts.push(figure(row.image));
  if (fields.length === 1 && fields[0].kind !== "number" && fields[0].kind !== "url" && !row.image) {
    parts.push(el("p", { class: "reading", dir: "auto" }, value(fields[0], Object.assign(words, { alone: true }))));
  } else if (fields.length > 0) {
    parts.push(facts(fields, words));
  }
  const content = parts.filter((part) => part !== null);
  card.replaceChildren(...content);
  card.classList.toggle("wordy", fields.some(isLong));
  card.classList.toggle("beside", Boolean(row.image) && fields.length > 0 && !fields.some(isLong));
  card.scrollTop = 0;
  return content.length > 0;
}

/** Several rows at once, those that are asked about now in the foreground: pictures on a wall, or lines. */
export function showBag(card, question, bag) {
  const asked = new Set(bag.asked);
  const tiles = question.bag.map(({ row }, place) => {
    const fields = row.fields.filter((field) => field.kind !== "image" || !row.image);
    const words = fields.map((field) => (field.kind === "number" ? local(String(field.value ?? "")) : String(field.value ?? ""))).join(" · ");
    const image = row.image ? picture(row.image) : null;
    if (image) image.alt = t("A picture that is asked about");
    const mark = bag.answers[place] === null ? null : icon(bag.answers[place] ? "yes" : "no");
    const known = bag.answers[place] === null ? "" : bag.answers[place] ? " right" : " wrong";
    return el("li", { class: `tile${asked.has(place) ? "" : " aside"}${known}` }, image, words ? el("span", { class: "line", dir: "auto" }, words) : null, mark);
  });
  const pictured = question.bag.some(({ row }) => row.image);
  card.replaceChildren(el("ul", { class: pictured ? "tiles" : "tiles lines" }, tiles));
  card.classList.remove("wordy", "beside");
  card.scrollTop = 0;
  return true;
}
