// What keeps people out: text too faint, controls without a name, targets too small, ids twice, a focus order of its
// own, no main heading. A function for page.evaluate.
() => {
  const found = [];
  const numbers = (colour) => {
    const parts = colour.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    const scale = colour.startsWith("color(") ? 255 : 1;  // color-mix() gives shares of one
    const [r, g, b] = parts.map((part) => part * scale);
    return [r, g, b, parts[3] ?? 1];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((part, n) => part * a + under[n] * (1 - a));
  const ground = (node) => {
    const layers = [];
    for (let n = node; n; n = n.parentElement) layers.unshift(numbers(getComputedStyle(n).backgroundColor));
    return layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((part) => part / 255).map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    !node.closest(".visually-hidden, .skip-link, [aria-hidden=true], :disabled, [aria-disabled=true]");
  const name = (node) => `${node.tagName.toLowerCase()}#${node.id}.${node.className} "${node.textContent.trim().slice(0, 30)}"`;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const modal = document.querySelector("dialog[open]");
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !seen(node) || (modal && !modal.contains(node))) continue;
    const style = getComputedStyle(node);
    const under = ground(node);
    const [a, b] = [light(over(numbers(style.color), under)), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${name(node)}`);
  }
  for (const node of document.querySelectorAll("button, a[href], input, select, textarea, [role=tab], dialog, [role=group]")) {
    if (!node.checkVisibility()) continue;
    const labels = [...(node.labels ?? [])].map((label) => label.textContent).join("");
    const other = (node.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join("");
    const own = node.matches("button, a, [role=tab]") ? node.textContent : "";
    if (!(node.getAttribute("aria-label") || labels || other || own).trim()) found.push(`no name: ${name(node)}`);
    const box = node.getBoundingClientRect();
    const small = node.matches("button, [role=tab], select, .button") && seen(node) && (box.width < 24 || box.height < 24);
    if (small) found.push(`too small: ${name(node)}`);
  }
  for (const image of document.images) if (!image.hasAttribute("alt")) found.push(`no alt: ${image.src}`);
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids.filter((id, n) => ids.indexOf(id) !== n))) found.push(`id twice: ${id}`);
  for (const node of document.querySelectorAll("[tabindex]")) if (node.tabIndex > 0) found.push(`tabindex: ${name(node)}`);
  if ([...document.querySelectorAll("h1")].filter((node) => node.checkVisibility()).length !== 1) found.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) found.push("not one main");
  if (!document.documentElement.lang) found.push("no language");
  return found;
}
