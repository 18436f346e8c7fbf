// Where another day begins in a transcript.

import { make } from "../lib/dom.js";

const FORMAT = { weekday: "long", day: "numeric", month: "long" };

/** The day of a moment, here, as text that can be compared; null if the moment is not known. */
export function dayOf(moment) {
  return moment ? new Date(moment).toDateString() : null;
}

/** A line that names a day. */
export function daySeparator(day) {
  return make("p", { class: "day-separator", role: "separator", data: { day }, title: new Date(day).toLocaleDateString([], { dateStyle: "full" }) }, make("span", { text: dayName(day) }));
}

function dayName(day) {
  const date = new Date(day);
  const daysAgo = Math.round((new Date(new Date().toDateString()) - date) / 86_400_000);
  if (daysAgo === 0) return "Today";
  if (daysAgo === 1) return "Yesterday";
  return date.toLocaleDateString([], date.getFullYear() === new Date().getFullYear() ? FORMAT : { ...FORMAT, year: "numeric" });
}
