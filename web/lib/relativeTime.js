// Times as people read them, "3 min ago", kept current, with the exact time in their titles.

import { make } from "./dom.js";
import { ago, exactTime } from "./format.js";

const TICK = 20_000;

let ticking = null;

/** An element that says how long ago a moment was. */
export function relativeTime(moment) {
  ticking ??= setInterval(update, TICK);
  return make("time", { class: "relative-time", datetime: new Date(moment).toISOString(), title: exactTime(moment), text: ago(moment) });
}

function update() {
  for (const element of document.querySelectorAll("time.relative-time")) {
    const text = ago(element.dateTime);
    if (element.textContent !== text) element.textContent = text;
  }
}
