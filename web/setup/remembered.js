// Small things that this browser remembers from one visit to the next. Without storage they last as long as the page.

import { keep, kept, parsed } from "../lib/storage.js";

const PREFIX = "flightdeck.home.";
const inMemory = new Map();

/** What was kept under a name; `otherwise` if there is nothing, or nothing that can be read. */
export function remembered(name, otherwise) {
  if (inMemory.has(name)) return inMemory.get(name);
  return parsed(kept(PREFIX + name)) ?? otherwise;
}

export function remember(name, value) {
  // The storage may be full or blocked.
  if (keep(PREFIX + name, JSON.stringify(value))) inMemory.delete(name);
  else inMemory.set(name, value);
}
