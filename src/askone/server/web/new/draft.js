// What the set-up has so far. It is kept in the tab, so that a reload loses nothing.

const KEY = "askone-draft";

const BLANK = {
  title: "",
  rows: { key: null, show: null, learn: null, gold: null },
  labels: { kind: "number", low: null, high: null, unit: "", decimals: null, name: "" },
  question: { wording: "", instructions: "", answers: ["yes", "no"], language: "auto" },
  ask: { budget: 1000, per_row: 1, until: "asked", tolerance: 0.05, training: 0, overlap: 1, gold_share: 0, exam_share: 0.15, exams: "error", order: "random", per_person: null, target: null, price: null, currency: "", seconds: 4 },
  learner: { flip: 0 },
  privacy: { epsilon: null, budget: null },
};

/** What each kind of label is made of: a change of the kind keeps what the other kinds had. */
export const LABELS = {
  number: { kind: "number", low: null, high: null, unit: "", decimals: null, name: "" },
  class: { kind: "class", classes: [], attributes: null, max_set_size: null },
  order: { kind: "order", items: [] },
};

export class Draft {
  constructor() {
    this.file = null; // {upload, name, rows, columns, sample, guessed, part, parts} or null: a ranking without a table
    this.started = false;
    this.settings = merged(BLANK, {});
    this.other = {};
    this.name = "";
    this.toml = "";
    this.ontoml = null; // told when the file is new
    this.listeners = [];
  }

  static kept() {
    const draft = new Draft();
    try {
      Object.assign(draft, JSON.parse(sessionStorage.getItem(KEY) ?? "{}"));
    } catch {
      // A draft that cannot be read is no draft.
    }
    return draft;
  }

  /** Takes the suggestions of the server over the blank settings. */
  begin(file, suggested) {
    this.file = file;
    this.started = true;
    this.settings = merged(BLANK, suggested ?? {});
    this.other = {};
    this.changed();
  }

  /** A column is neither shown nor learnt from. */
  leaveOut(column) {
    const { rows } = this.settings;
    const names = (this.file?.columns ?? []).map(({ name }) => name);
    rows.show = (rows.show ?? names.filter((name) => name !== rows.gold)).filter((name) => name !== column);
    rows.learn = (rows.learn ?? names.filter((name) => name !== rows.gold && name !== rows.key)).filter((name) => name !== column);
    this.changed();
  }

  /** The settings as a file, as the server writes them. */
  take(toml) {
    this.toml = toml;
    this.ontoml?.();
  }

  /** Another kind of label: its former values come back. */
  turn(kind) {
    if (kind === this.settings.labels.kind) return;
    this.other[this.settings.labels.kind] = this.settings.labels;
    this.settings.labels = this.other[kind] ?? structuredClone(LABELS[kind]);
    this.changed();
  }

  changed() {
    this.keep();
    for (const listener of this.listeners) listener();
  }

  keep() {
    const { file, started, settings, other, name } = this;
    try {
      sessionStorage.setItem(KEY, JSON.stringify({ file, started, settings, other, name }));
    } catch {
      // Storage may be full or forbidden: the draft then lives as long as the page.
    }
  }

  forget() {
    sessionStorage.removeItem(KEY);
  }

  /** The address of what belongs to the uploaded table. */
  path(what) {
    return `/uploads/${encodeURIComponent(this.file?.upload ?? "none")}/${what}`;
  }
}

/** One level of tables, each filled up with the defaults. */
function merged(blank, given) {
  const all = structuredClone(blank);
  for (const [name, value] of Object.entries(given))
    all[name] = value && typeof value === "object" && !Array.isArray(value) && name !== "labels" ? { ...all[name], ...value } : structuredClone(value);
  all.labels = { ...structuredClone(LABELS[all.labels.kind] ?? LABELS.number), ...all.labels };
  return all;
}
