// The chosen theme. early.js applies it before the first paint.

import { keep } from "./storage.js";

const KEY = "flightdeck.theme";

export const THEMES = ["system", "light", "dark"];

export function currentTheme() {
  return document.documentElement.dataset.theme ?? "system";
}

/** Returns whether the browser keeps the choice. */
export function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  // Without storage it applies to this page only.
  return keep(KEY, theme);
}

/** The theme after the one that is chosen. */
export function nextTheme() {
  return THEMES[(THEMES.indexOf(currentTheme()) + 1) % THEMES.length];
}
