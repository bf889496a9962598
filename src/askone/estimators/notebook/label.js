// The answer page in a notebook: one question, two answers, the keys of the web page. All content goes in as text.

const LEFT = ["arrowleft", "f", "1"];
const RIGHT = ["arrowright", "j", "2"];
const LONG = 40; // characters of a cell that has the whole width

function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Whether the notebook is dark: each says so in its own way, and the browser where none does. */
function isDark() {
  const { body, documentElement: page } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (body.dataset.vscodeThemeKind) return /dark|high-contrast$/.test(body.dataset.vscodeThemeKind);
  if (page.getAttribute("theme")) return page.getAttribute("theme") === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Grey values, drawn one pixel each; the style sheet enlarges them. */
function drawn(grey) {
  const canvas = el("canvas", { class: "picture", width: grey[0].length, height: grey.length, role: "img", "aria-label": "The picture that is asked about" });
  const paper = canvas.getContext("2d");
  const image = paper.createImageData(canvas.width, canvas.height);
  grey.flat().forEach((value, n) => image.data.set([value, value, value, 255], 4 * n));
  paper.putImageData(image, 0, 0);
  return canvas;
}

/** The sentence, which is English, with its large numbers as people write them. */
const said = ({ sentence, amount }) => (amount ? sentence.replace(/(?<![\w.,])\d{5,15}(?!\w)/g, (digits) => Number(digits).toLocaleString("en")) : sentence);

function rowOf(row) {
  if (row.image) return [el("img", { class: "picture", src: row.image, alt: "The picture that is asked about" })];
  if (row.pixels) return [drawn(row.pixels)];
  if (row.text) return [el("p", { class: "reading", dir: "auto" }, row.text)];
  return (row.fields ?? []).length === 0 ? [] : [el("dl", {}, ...row.fields.map(([name, value]) =>
    el("div", { class: value.length > LONG ? "long" : null }, el("dt", { dir: "auto" }, name), el("dd", { dir: "auto" }, value))))];
}

function button(name, word, key, press) {
  const made = el("button", { type: "button", class: name, "aria-keyshortcuts": key }, el("span", {}, word), el("kbd", {}, key));
  made.addEventListener("click", press);
  return made;
}

function render({ model, el: root }) {
  // JupyterLab and the notebook leave the keys of this element alone.
  const box = el("section", { class: "askone-label", tabindex: "0", "data-lm-suppress-shortcuts": "true", "aria-label": "Questions" });
  let sent = false;

  function send(message) {
    if (sent) return;
    sent = true; // until the next view has come
    model.send({ number: model.get("view").question?.number, ...message });
  }

  /** The left button is no, or the first of two things. */
  function press(side) {
    const { question } = model.get("view");
    if (question) send({ do: "answer", answer: question.pair ? side === "left" : side === "right" });
  }

  function draw() {
    sent = false;
    const { question, row, why, answers, total, undo, error } = model.get("view");
    box.style.colorScheme = isDark() ? "dark" : "light";
    const focused = box.contains(document.activeElement);
    const parts = [];
    if (error) parts.push(el("p", { class: "error", role: "alert" }, error));
    parts.push(el("h3", { "aria-live": "polite", dir: "auto" }, question ? said(question) : why));
    if (question) {
      const content = rowOf(row);
      if (content.length) parts.push(el("div", { class: "card" }, ...content));
      const [left, right] = question.pair ? question.answers : [question.answers[1], question.answers[0]];
      parts.push(el("div", { class: question.pair ? "answers pair" : "answers" },
        button("no", left, "←", () => press("left")), button("yes", right, "→", () => press("right"))));
    }
    const tools = el("div", { class: "tools" });
    if (undo) tools.append(button("tool", "Undo", "U", () => send({ do: "undo" })));
    if (question) tools.append(button("tool", "Skip", "S", () => send({ do: "skip" })));
    tools.append(el("span", { class: "count" }, total ? `${answers} of ${total} answers` : `${answers} answers`));
    box.replaceChildren(...parts, tools);
    if (focused) box.focus({ preventScroll: true }); // its button is gone, and the next key is meant for it
  }

  box.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    const pair = model.get("view").question?.pair;
    if (LEFT.includes(key) || (key === "n" && !pair)) press("left");
    else if (RIGHT.includes(key) || (key === "y" && !pair)) press("right");
    else if (key === "u") send({ do: "undo" });
    else if (key === "s") send({ do: "skip" });
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  model.on("change:view", draw);
  root.append(box);
  draw();
  return () => model.off("change:view", draw);
}

export default { render };
