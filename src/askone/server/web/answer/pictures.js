// Pictures of the questions that may come next, fetched ahead and kept as elements: showing one asks nobody.

const KEPT = 8;
const kept = new Map();

function load(address) {
  const picture = new Image();
  picture.decoding = "async";
  picture.draggable = false;
  // Tiny pictures are enlarged by the style sheet.
  picture.addEventListener("load", () => picture.classList.toggle("tiny", picture.naturalWidth < 100));
  picture.src = address;
  return picture;
}

/** Addresses come from the server's JSON: only this site's own paths are fetched. */
const own = (address) => typeof address === "string" && /^\/(?!\/)/.test(address);

export function picture(address) {
  if (!own(address)) return null;
  const element = kept.get(address) ?? load(address);
  kept.delete(address);
  kept.set(address, element);
  while (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return element;
}

/** After an error the next look fetches it anew. */
export const forget = (address) => kept.delete(address);
