// Light or dark: what the reader chose, else what the system says. Runs before anything is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (night.matches ? "dark" : "light")) === "dark";
  const remembered = () => {
    try {
      return localStorage.getItem("setwise-theme");
    } catch {
      return null;
    }
  };
  const remember = (theme) => {
    try {
      localStorage.setItem("setwise-theme", theme);
    } catch {
      /* not allowed here */
    }
  };
  const chosen = remembered();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember(root.dataset.theme);
      show();
    });
    night.addEventListener("change", show);
    show();
  });
})();
