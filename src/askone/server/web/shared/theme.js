// A plain script in the head, not a module: it sets the chosen theme before the first paint, so nothing flashes.
// Without a choice the style sheet follows the system.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("askone-theme");
  } catch {
    // Storage may be forbidden: then the system decides.
  }
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
})();
