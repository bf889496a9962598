// Several rows in one question: yes is a yes for each; a no is split in two until every row is known. What the halves
// imply is not asked. The same splitting as in askone/session/bags.py; a test compares them for every set of answers.

const half = (rows) => Math.ceil(rows / 2);

export class Bag {
  questions = 0;
  looks = 0;
  #waiting;

  constructor(rows) {
    this.answers = Array(rows).fill(null);
    this.#waiting = [{ group: [...this.answers.keys()], wrong: false }];
  }

  /** Places of the rows that are asked about now; none when all is known. */
  get asked() {
    const next = this.#waiting.at(-1);
    if (!next) return [];
    return next.wrong ? next.group.slice(0, half(next.group.length)) : next.group;
  }

  /** The bag after an answer to whether all that is asked about is right; this one stays as it is. */
  told(right) {
    const { asked } = this;
    const { group, wrong } = this.#waiting.at(-1);
    const later = new Bag(0);
    later.answers = [...this.answers];
    later.#waiting = this.#waiting.slice(0, -1);
    later.questions = this.questions + 1;
    later.looks = this.looks + asked.length;
    const rest = group.slice(asked.length);
    if (rest.length > 0) later.#put(rest, wrong && right);
    if (right) for (const place of asked) later.answers[place] = true;
    else later.#put(asked, true);
    return later;
  }

  #put(group, wrong) {
    if (wrong && group.length === 1) this.answers[group[0]] = false;
    else this.#waiting.push({ group, wrong });
  }
}
