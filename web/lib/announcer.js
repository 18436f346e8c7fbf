// Announces visible changes to screen readers.

import { make } from "./dom.js";

let region = null;

export function announce(text) {
  if (!region) {
    region = make("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    document.body.append(region);
  }
  // A repeated text must be announced too.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}
