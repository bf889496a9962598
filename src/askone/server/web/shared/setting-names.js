// What the server calls a setting, and what its field is called on the page: an error speaks of the latter.

/** How long a row is asked about. */
export const UNTIL = [["asked", "Known or not"], ["known", "Until it is known"]];

/** What may stand in the wording of a question, by the kind of label. */
export const PLACES = {
  number: "{amount} is what is asked for (“the price”), {side} “above” or “below”, {threshold} the number with its unit.",
  class: "{set} is the list of names; “a {set}” has the article before each.",
  order: "{first} and {second} are the two items.",
};

const NAMES = {
  title: "Title of the campaign",
  "rows.key": "Row names", "rows.gold": "Known answers", "rows.show": "Show", "rows.learn": "Learn from",
  "labels.kind": "What should the model learn?", "labels.name": "What the number is", "labels.unit": "Unit", "labels.low": "Lowest", "labels.high": "Highest",
  "labels.decimals": "Decimals", "labels.classes": "Class names", "labels.max_set_size": "Largest set asked", "labels.attributes": "Attributes", "labels.items": "Items",
  "question.wording": "The question", "question.answers": "Words for yes and no", "question.instructions": "Instructions", "question.language": "Language",
  "ask.budget": "Budget in answers", "ask.target": "Stop below this error", "ask.per_person": "Most per person", "ask.overlap": "People per question", "ask.per_row": "Questions per row", "ask.until": "Ask a row again", "ask.tolerance": "Known within", "ask.training": "Practice questions",
  "ask.exam_share": "Measuring questions", "ask.exams": "Measuring questions are about", "ask.gold_share": "Gold questions", "ask.order": "Order of the rows", "ask.seconds": "Seconds per answer",
  "ask.price": "Price per answer", "ask.currency": "Currency", "learner.flip": "Expected slips",
  "people.pause_below": "Pause people below (bits)", "people.pause_after": "Answers before a pause",
  "privacy.epsilon": "Private answers (ε)", "privacy.budget": "Privacy of one person",
  budget: "Answers in all", expires_hours: "Valid for hours", most_uses: "For so many people", expires_days: "Valid for days", scopes: "It may",
  url: "Address", events: "When", flip: "Wrong answers", answers: "Answers", password: "Password", new: "New password", old: "Current password",
  name: "Name", role: "Role", keys: "Rows, by name", "X-File-Name": "The file",
};
const SHARES = ["ask.exam_share", "ask.tolerance", "ask.gold_share", "learner.flip", "flip"]; // written in per cent on the page

const PATH = /(?<![\w.-])(?:(?:rows|labels|question|ask|learner|people|privacy)\.[a-z_]+|X-File-Name)(?:\[[^\]]*\])?/g;
const bare = (path) => path.replace(/\[.*$/, "");
const quoted = (path) => (NAMES[bare(path)] ? `“${NAMES[bare(path)]}”` : path);

const percents = (text) => text.replace(/(?<![\w.])\d*\.?\d+(?![\w.]*\w)/g, (digits) => `${Number((100 * Number(digits)).toPrecision(4))} %`);

/** The message of an error in the words of the page. */
export function inWords(message, argument) {
  let text = String(message);
  const name = argument ? NAMES[bare(argument)] : null;
  if (name && (text.startsWith(`${argument}: `) || text.startsWith(`${argument} must `))) {
    text = text.slice(argument.length).replace(/^: /, " ").replace(/^ Input should be /, " must be ").replace(/^ Field required/, " must be filled in")
      .replace(/^ String should match pattern .*/, " may have letters, digits, hyphens, dots and underscores, and begins with a letter or digit")
      .replace(/^ String should have at (least|most) (\d+) characters?/, " must have at $1 $2 characters");
    if (SHARES.includes(bare(argument))) text = percents(text);
    text = `“${name}”${text}`;
  }
  if (argument === "labels.high") text = text.replace("above low (", "above “Lowest” (").replace(", at a finite distance", "");
  text = text.replace(/ must be one line of text, not blank; got ''$/, " must be filled in").replace(/; got (\[\]|'')$/, "").replace(/ from (\S+) to 10{12}/, ", $1 or more");
  text = text.replace(/ must be given(, as the other end is)?; got None$/, " must be filled in$1").replace(/; got None$/, "");
  return text.replace(PATH, quoted);
}
