// Tells screen readers what eyes see by themselves.

import { make } from "./dom.js";

let region = null;

export function announce(text) {
  if (!region) {
    region = make("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    document.body.append(region);
  }
  // The same words again are news too.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}
