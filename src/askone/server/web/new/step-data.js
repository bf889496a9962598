// Step 1: a table is brought here by a drop or a choice of a file; a ranking needs none.

import { upload } from "../shared/api.js";
import { el, show } from "../shared/dom.js";
import { attempt, chooser, TABLES } from "../shared/fields.js";
import { plural } from "../shared/format.js";

export function dataStep(draft, { next }) {
  const fill = el("div", { class: "fill" });
  const bar = el("div", { class: "bar", hidden: true, role: "progressbar", "aria-label": "Upload", "aria-valuemin": "0", "aria-valuemax": "100" }, fill);
  const message = el("div", { "aria-live": "polite" });
  const zone = el("div", { class: "drop-zone" },
    el("p", { class: "strong" }, "Drop a table here"),
    el("p", { class: "muted" }, "CSV, Excel (.xlsx), JSON lines or Parquet, one row per thing to ask about, or a zip file of images. No labels needed."),
    el("p", {}, chooser("table-file", TABLES, message, send, "button primary")),
    bar);

  async function send(file) {
    bar.hidden = false;
    show(message, el("p", { class: "muted" }, `Reading ${file.name} …`));
    try {
      const made = await upload("/uploads", file, (share) => {
        fill.style.width = `${100 * share}%`;
        bar.setAttribute("aria-valuenow", Math.round(100 * share));
      });
      const { upload: id, rows, columns, sample, suggested, part, parts } = made;
      const like = draft.like;
      const guessed = { key: suggested?.rows?.key, gold: suggested?.rows?.gold };
      draft.begin({ upload: id, name: file.name, rows, columns, sample, guessed, part, parts }, like ? { ...suggested, ...like, rows: suggested?.rows } : suggested);
      next();
    } finally {
      bar.hidden = true;
    }
  }

  for (const kind of ["dragenter", "dragover"])
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  for (const kind of ["dragleave", "drop"]) zone.addEventListener(kind, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) attempt(message, message, () => send(file));
  });

  function withoutTable() {
    draft.begin(null, draft.like ?? { title: "Ranking", labels: { kind: "order", items: [] } });
    draft.turn("order");
    next();
  }

  const have = draft.started && draft.file;
  return el("div", { class: "stack" },
    have ? el("p", { class: "notice good" }, `${draft.file.name}: ${plural(draft.file.rows, "row")}, ${plural(draft.file.columns.length, "column")}. Another file takes its place.`) : null,
    !have && draft.like ? el("p", { class: "notice" }, `The settings of “${draft.like.title}” are taken over. Which rows is this campaign about?`) : null,
    zone, message,
    el("div", { class: "card flat line between" },
      el("div", {}, el("h3", {}, "Only a list of things to rank?"), el("p", { class: "muted small" }, "People compare two at a time; no table is needed.")),
      el("button", { type: "button", class: "button", onclick: withoutTable }, "Rank items without a table")));
}
