// Guidelines: the parts that the server made of Markdown, as elements. Only these tags, and only these attributes.

import { el, sharp } from "../shared/dom.js";

const TAGS = new Set(["p", "h3", "h4", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "hr", "br", "span", "table", "thead", "tbody", "tr", "th", "td"]);
const BLOCKS = new Set(["p", "h3", "h4", "ul", "ol", "table"]);
const PICTURE = /^(\/api\/v1\/|data:image\/(png|jpeg|gif|webp);base64,)/;
const WEB = /^https?:\/\//i;

function element(part) {
  if (typeof part === "string") return part;
  const children = (part.children ?? []).map(element);
  if (part.tag === "img") return PICTURE.test(part.src) ? sharp(el("img", { src: part.src, alt: part.alt, loading: "lazy" })) : part.alt;
  if (part.tag === "a" && WEB.test(part.href)) return el("a", { href: part.href, target: "_blank", rel: "noopener noreferrer" }, ...children);
  return el(TAGS.has(part.tag) ? part.tag : "span", BLOCKS.has(part.tag) ? { dir: "auto" } : {}, ...children);
}

export const elements = (parts) => (parts ?? []).map(element);
