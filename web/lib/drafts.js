// Drafts survive a reload.

import { keep, kept } from "./storage.js";

const PREFIX = "flightdeck.draft.";
/** The browser's storage is small, and all sessions share it. */
const LONGEST = 200_000;

export function readDraft(sessionId) {
  return kept(PREFIX + sessionId) ?? "";
}

export function keepDraft(sessionId, text) {
  // If the storage is full or blocked, only the draft is lost.
  keep(PREFIX + sessionId, text && text.length <= LONGEST ? text : null);
}
