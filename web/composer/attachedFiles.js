// The files that are attached to what is being written, by session, until they are sent. Only the page's memory has them.

import { sessionInAddress } from "../lib/address.js";
import { inbox } from "../lib/inboxStream.js";

class AttachedFiles extends EventTarget {
  #bySession = new Map();

  constructor() {
    super();
    // The page of a deleted session names them first.
    inbox.addEventListener("entry", ({ detail: { entry } }) => entry.state === null && entry.sessionId !== sessionInAddress() && this.take(entry.sessionId));
  }

  of(sessionId) {
    return this.#bySession.get(sessionId) ?? [];
  }

  /** Dispatches "change" with the session's id. */
  set(sessionId, files) {
    if (files.length > 0) this.#bySession.set(sessionId, files);
    else this.#bySession.delete(sessionId);
    this.dispatchEvent(new CustomEvent("change", { detail: sessionId }));
  }

  remove(sessionId, files) {
    this.set(sessionId, this.of(sessionId).filter((file) => !files.includes(file)));
  }

  /** Returns the files of a session that is gone, and forgets them. */
  take(sessionId) {
    const files = this.of(sessionId);
    this.set(sessionId, []);
    return files;
  }
}

export const attachedFiles = new AttachedFiles();
