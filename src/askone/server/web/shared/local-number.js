// Numbers as the reader's language writes them, with the digits that were given.

const PLAIN = /^-?\d{1,15}(\.\d{1,10})?$/;

/** "1234567.5" becomes "1,234,567.5" or "1.234.567,5". What is no plain number (an exponent, a code) stays as it is. */
export function local(text) {
  if (!PLAIN.test(text) || /^-?0\d/.test(text)) return text;
  const decimals = text.includes(".") ? text.length - text.indexOf(".") - 1 : 0;
  return new Intl.NumberFormat(undefined, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    useGrouping: "min2", // 2024 may be a year
  }).format(Number(text));
}
