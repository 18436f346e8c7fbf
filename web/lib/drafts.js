// What somebody began to write stays over a reload.

const PREFIX = "flightdeck.draft.";
/** The browser's store is small, and shared by all sessions. */
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
    // A full or forbidden store costs the draft, nothing else.
  }
}
