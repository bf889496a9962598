// Numbers, times and amounts as people read them.

import { count, locale } from "./language.js";

export { count };

/** A number with about three digits, and all that stand before the point: 0.0412, 3.27, 412, 12,345. */
export function number(value, digits = 3, useGrouping = true) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.min(8, Math.max(0, digits - 1 - size));
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: decimals, useGrouping }).format(value);
}

/** The same, without more digits than that: 373,187 becomes 373,000. */
export function rounded(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const whole = Math.abs(value) >= 100 ? Math.round(value) : value;
  return new Intl.NumberFormat(locale(), { maximumSignificantDigits: digits }).format(whole);
}

export const percent = (share, digits = 0) =>
  share === null || share === undefined || !Number.isFinite(share) ? "–" : `${(100 * share).toFixed(digits)} %`;

/** "1 answer", "2 answers". */
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export const withUnit = (text, unit) => (unit ? `${text} ${unit}` : text);

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::00(?:\.0+)?)?)?$/;

/** "2026-03-01" as the reader's language writes a date, with the time where there is one; any other text stays as it is. */
export function localDate(text) {
  const [found, year, month, day, hour, minute] = DATE.exec(text) ?? [];
  if (!found) return text;
  const form = new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeZone: "UTC", ...(hour ? { timeStyle: "short" } : {}) });
  return form.format(new Date(Date.UTC(year, month - 1, day, hour ?? 0, minute ?? 0)));
}

/** A sentence with its large numbers as people write them: "above 31000 EUR" becomes "above 31,000 EUR". */
export const grouped = (sentence) => sentence.replace(/(?<![\p{L}\d.,])\d{5,15}(\.\d+)?(?![\p{L}\d])/gu, local);

/** A price: in the style of its currency where it is one that the browser knows. */
export function money(value, currency) {
  if (value === null || value === undefined) return "–";
  try {
    return new Intl.NumberFormat(locale(), { style: "currency", currency }).format(value);
  } catch {
    return withUnit(value.toFixed(2), currency);
  }
}

export function hours(value) {
  if (value === null || value === undefined) return "–";
  if (value < 1) return `${Math.max(1, Math.round(value * 60))} min`;
  return `${value < 10 ? value.toFixed(1) : count(value)} h`;
}

export const day = (seconds) =>
  new Date(seconds * 1000).toLocaleDateString(locale(), { day: "numeric", month: "short", year: "numeric" });

export const moment = (seconds) =>
  new Date(seconds * 1000).toLocaleString(locale(), { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

export const clock = (seconds) =>
  new Date(seconds * 1000).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });

/** "just now", "5 min ago", or the date. */
export function ago(seconds, now = Date.now() / 1000) {
  if (!seconds) return "never";
  const past = now - seconds;
  if (past < 60) return "just now";
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86400) return `${Math.floor(past / 3600)} h ago`;
  return moment(seconds);
}

/** Why a campaign that was not closed asks nobody any more. */
export const END = { target: "target reached", budget: "budget spent", rows: "all rows asked" };

const PLAIN = /^-?\d{1,15}(\.\d{1,10})?$/;

/** A number with the digits that were given: "1234567.5" becomes "1,234,567.5" or "1.234.567,5". What is no plain number (an exponent, a code) stays as it is. */
export function local(text) {
  if (!PLAIN.test(text) || /^-?0\d/.test(text)) return text;
  const decimals = text.includes(".") ? text.length - text.indexOf(".") - 1 : 0;
  return new Intl.NumberFormat(locale(), {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    useGrouping: "min2", // 2024 may be a year
  }).format(Number(text));
}
