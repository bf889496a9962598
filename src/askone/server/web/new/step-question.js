// Step 3: what is asked for, and in which words.

import { el, show } from "../shared/dom.js";
import { labelsStep } from "./step-labels.js";
import { wordingStep } from "./step-wording.js";

export function questionStep(draft) {
  const words = el("div");
  const fill = () => show(words, wordingStep(draft));
  fill();
  return el("div", { class: "stack loose" }, labelsStep(draft, fill), el("h2", {}, "In which words?"), words);
}
