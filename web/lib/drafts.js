// What is being written and not sent yet: the browser's storage keeps it over a reload, and what it does not take stays in memory.

import { hasStorage, keep, kept } from "./storage.js";

const PREFIX = "flightdeck.draft.";
/** The browser's storage is small, and all sessions share it. */
const LONGEST = 200_000;
/** What the storage did not take. */
const inMemory = new Map();

export function readDraft(id) {
  return inMemory.get(id) ?? kept(PREFIX + id) ?? "";
}

/** Keeps a draft, or forgets it if there is no text. */
export function keepDraft(id, text) {
  inMemory.delete(id);
  if (!text) keep(PREFIX + id, null);
  else if (text.length > LONGEST || !keep(PREFIX + id, text)) {
    inMemory.set(id, text);
    // A reload must not bring back what this text has replaced.
    keep(PREFIX + id, null);
  }
}

/** Says what a reload does to a draft that the storage did not take; a page without any storage says so once, for all drafts. */
export function draftNote(id) {
  const text = inMemory.get(id);
  if (text === undefined || !hasStorage()) return "";
  if (text.length > LONGEST) return "This draft is too long to survive a reload.";
  return "This browser's storage is full. This draft will not survive a reload.";
}

/** Shows that beside the text. A screen reader reads out what changes, so a note that says the same is left alone. */
export function showDraftNote(element, id) {
  const note = draftNote(id);
  element.hidden = note === "";
  if (element.textContent !== note) element.textContent = note;
}
