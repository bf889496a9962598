// What is asked for: a number, a class or an order.

import { el, show } from "../shared/dom.js";
import { field, longText, numeral, text } from "../shared/fields.js";

const KINDS = [
  ["number", "A number", "“Is the price above 37 EUR?”: the threshold moves to where it teaches most."],
  ["class", "A class", "“Is it one of cat, dog?”: sets of names, from many to one."],
  ["order", "An order of items", "“Tea or coffee?”: two items side by side."],
];

const lines = (value) => value.split("\n").map((line) => line.trim()).filter(Boolean);

/** "shape: round, square" per line, as a table; null where there is none. */
export function attributesFrom(value) {
  const pairs = lines(value).map((line) => {
    const at = line.indexOf(":");
    const [name, names] = at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
    return [name.trim(), names.split(",").map((one) => one.trim()).filter(Boolean)];
  });
  return pairs.length ? Object.fromEntries(pairs) : null;
}

const attributesText = (table) => Object.entries(table ?? {}).map(([name, classes]) => `${name}: ${classes.join(", ")}`).join("\n");

/** `turned()` is called when another kind was chosen. */
export function labelsStep(draft, turned) {
  const place = el("div", { class: "fields" });
  const set = (name) => (value) => {
    draft.settings.labels[name] = value;
    draft.changed();
  };
  const PANELS = {
    number: (labels) => [
      field({ label: "What the number is", path: "labels.name", hint: "As in “Is the … above 37 EUR?”" }, text(labels.name, set("name"), { placeholder: "price" })),
      field({ label: "Unit", path: "labels.unit" }, text(labels.unit, set("unit"), { placeholder: "EUR" })),
      field({ label: "Lowest", path: "labels.low", hint: "About the smallest that can be true. Empty: the first questions find the range." }, numeral(labels.low, set("low"))),
      field({ label: "Highest", path: "labels.high", hint: "About the largest that can be true." }, numeral(labels.high, set("high"))),
      field({ label: "Decimals", path: "labels.decimals", hint: "Of the thresholds asked. Empty: chosen from the range." }, numeral(labels.decimals, set("decimals"), { step: "1", min: "0", max: "9" })),
    ],
    class: (labels) => [
      field({ label: "Class names, one per line", path: "labels.classes", wide: true }, longText((labels.classes ?? []).join("\n"), (value) => set("classes")(lines(value)), { rows: "6", placeholder: "cat\ndog\nhorse" })),
      field({ label: "Largest set asked", path: "labels.max_set_size", hint: "Empty: as many as teach most." }, numeral(labels.max_set_size, set("max_set_size"), { step: "1", min: "1" })),
      field({ label: "Attributes (optional)", path: "labels.attributes", wide: true, hint: "Only these sets are asked, by their names: “four legs: cat, dog, horse”, one per line." }, longText(attributesText(labels.attributes), (value) => set("attributes")(attributesFrom(value)), { rows: "4" })),
    ],
    order: (labels) => [
      field({ label: "Items, one per line", path: "labels.items", wide: true }, longText((labels.items ?? []).join("\n"), (value) => set("items")(lines(value)), { rows: "8", placeholder: "tea\ncoffee\ncocoa" })),
    ],
  };
  const fill = () => show(place, PANELS[draft.settings.labels.kind](draft.settings.labels));
  const kinds = el("fieldset", { class: "field", dataset: { path: "labels.kind" } }, el("legend", {}, "What should the model learn?"),
    el("div", { class: "choices three" }, KINDS.map(([kind, words, example]) =>
      el("label", { class: "check" },
        el("input", { type: "radio", name: "kind", value: kind, checked: draft.settings.labels.kind === kind, onchange: () => { draft.turn(kind); fill(); turned(); } }),
        el("span", {}, el("span", { class: "strong" }, words), el("br"), el("span", { class: "muted small" }, example))))),
    el("span", { class: "error", role: "alert" }));
  fill();
  return el("div", { class: "stack", dataset: { path: "labels" } }, kinds, place, el("span", { class: "error", role: "alert" }));
}
