// Everything as files: plain links, so that the browser streams them to the disk.

import { upload } from "../shared/api.js";
import { el, show, toast } from "../shared/dom.js";
import { chooser } from "../shared/fields.js";
import { plural } from "../shared/format.js";

const FILES = [
  ["Answers", "Each answer with its question, row, time, seconds, the model's version and the chance with which it was asked.", "answers", [["csv", "CSV"], ["jsonl", "JSON lines"], ["parquet", "Parquet"], ["label-studio", "Label Studio"]]],
  ["Predictions", "For every row: the prediction and how sure it is.", "predictions", [["csv", "CSV"], ["jsonl", "JSON lines"], ["parquet", "Parquet"]]],
  ["Model", "The learner as it is now, in a portable format without code in it.", "model", [[null, "Model"]]],
  ["Log", "Every event since the beginning, chained by hashes: the model can be rebuilt from it, and checked.", "log", [[null, "JSON lines"]]],
  ["Backup", "The whole campaign in one file, for another server or for safety.", "backup", [[null, "Backup"]]],
];

export function exportsTab(panel, shared) {
  const link = (what, format, name, title) =>
    el("a", { class: "button", href: `/api/v1${shared.root}/export/${what}${format ? `?format=${format}` : ""}`, download: "", "aria-label": `${title}: download ${name}` }, name);
  const message = el("div", { "aria-live": "polite" });
  const file = chooser("import-file", ".json", message, async (chosen) => {
    const { answers } = await upload(`${shared.root}/import/label-studio`, chosen);
    show(message);
    toast(`Brought in ${plural(answers, "answer")}.`);
    shared.poll.now();
  });

  show(panel, el("div", { class: "grid exports" },
    FILES.map(([title, note, what, formats]) =>
      el("section", { class: "card stack" }, el("h2", {}, title), el("p", { class: "muted small" }, note), el("div", { class: "line" }, formats.map(([format, name]) => link(what, format, name, title))))),
    el("section", { class: "card stack" }, el("h2", {}, "Bring in answers"), el("p", { class: "muted small" }, "Yes/no choices from a JSON export of Label Studio. Answers that are here already are passed over."),
      el("div", { class: "line" }, file), message)));
}
