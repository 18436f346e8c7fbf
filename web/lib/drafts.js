// Drafts survive a reload.

const PREFIX = "flightdeck.draft.";
/** The browser's storage is small, and all sessions share it. */
const LONGEST = 200_000;

export function readDraft(sessionId) {
  try {
    return localStorage.getItem(PREFIX + sessionId) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(sessionId, text) {
  try {
    if (text && text.length <= LONGEST) localStorage.setItem(PREFIX + sessionId, text);
    else localStorage.removeItem(PREFIX + sessionId);
  } catch {
    // If the storage is full or blocked, only the draft is lost.
  }
}
