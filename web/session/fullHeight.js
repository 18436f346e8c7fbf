// Whether receiving blocks use their full height instead of at most 150 pixels.

import { keep, kept } from "../lib/storage.js";

const KEY = "flightdeck.fullHeight";
const CLASS = "full-height-streaming";

const root = document.documentElement;
root.classList.toggle(CLASS, kept(KEY) === "true");
// Another tab may change it.
addEventListener("storage", ({ key, newValue }) => key === KEY && root.classList.toggle(CLASS, newValue === "true"));

export const fullHeight = {
  get isOn() {
    return root.classList.contains(CLASS);
  },

  toggle() {
    // Without storage it applies to this page only.
    keep(KEY, String(root.classList.toggle(CLASS)));
  },
};
