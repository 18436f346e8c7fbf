// How many files differ from the last commit in each folder, asked for one folder at a time and only while somebody sees the tab:
// comparing a large repository takes the server a while.

import { ask, sessionPath } from "../lib/api.js";

export class FolderChanges {
  /** Called when a count is known or has changed. */
  onChange = () => {};
  /** Folder → `{ count, truncated }`, or null without a repository. */
  #known = new Map();
  /** Folders that were asked for since their files changed. */
  #asked = new Set();
  /** Folder → the session to ask through. */
  #wanted = new Map();
  #isAsking = false;

  /** What is known of a folder that is shown; asks for it if that is nothing, or old. `sessionId` is any session in it. */
  of(folder, sessionId) {
    if (!document.hidden && !this.#asked.has(folder)) this.#want(folder, sessionId);
    return this.#known.get(folder) ?? null;
  }

  /** Files in a folder may have changed. */
  setOld(folder) {
    this.#asked.delete(folder);
  }

  #want(folder, sessionId) {
    this.#asked.add(folder);
    this.#wanted.set(folder, sessionId);
    if (!this.#isAsking) this.#askAll();
  }

  async #askAll() {
    this.#isAsking = true;
    for (;;) {
      const [next] = this.#wanted;
      if (!next) break;
      const [folder, sessionId] = next;
      this.#wanted.delete(folder);
      if (document.hidden) {
        this.setOld(folder);
        continue;
      }
      this.#known.set(folder, await changesOf(sessionId));
      this.onChange();
    }
    this.#isAsking = false;
  }
}

async function changesOf(sessionId) {
  try {
    const { repository, files = [], truncated = false } = await ask(sessionPath(sessionId, "changes"));
    return repository ? { count: files.length, truncated } : null;
  } catch {
    // A folder that is gone has no changes to show.
    return null;
  }
}
