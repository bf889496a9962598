// A plain script in the head, not a module: it sets the theme before the first paint, so nothing flashes.
(() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    let chosen = null;
    try {
      chosen = localStorage.getItem("askone-theme");
    } catch {
      // Storage may be forbidden: then the system decides.
    }
    const known = chosen === "light" || chosen === "dark";
    document.documentElement.dataset.theme = known ? chosen : system.matches ? "dark" : "light";
    document.dispatchEvent(new Event("themechange"));
  };
  system.addEventListener("change", follow);
  follow();
})();
