// Times as people read them, "3 min ago", kept current, with the exact time in their titles.

import { make } from "./dom.js";
import { ago, exactTime } from "./format.js";

const TICK = 20_000;

let ticking = null;

/** An element that says how long ago a moment was; with a `title` of its own if the exact time is not all there is to say. */
export function relativeTime(moment, { className = "", title = exactTime(moment) } = {}) {
  ticking ??= start();
  return make("time", { class: `relative-time ${className}`.trim(), datetime: new Date(moment).toISOString(), title, text: ago(moment) });
}

function start() {
  // A hidden tab may have missed some.
  document.addEventListener("visibilitychange", update);
  return setInterval(update, TICK);
}

function update() {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("time.relative-time")) {
    const text = ago(element.dateTime);
    if (element.textContent !== text) element.textContent = text;
  }
}
