// Tells the server what of a session a person has seen, so that it is unread on no device.

import { ask, sessionPath } from "../lib/api.js";
import { byId } from "../lib/dom.js";

export class SeenMark {
  #view;
  #asking = false;
  /** The event up to which the server knows. */
  #marked = 0;

  constructor(view) {
    this.#view = view;
    const { signal } = view;
    for (const kind of ["change", "shown"]) view.addEventListener(kind, () => this.#soon(), { signal });
    document.addEventListener("visibilitychange", () => this.#soon(), { signal });
    // Back at the end after reading something further up.
    byId("session-part").addEventListener("scroll", () => this.#soon(), { signal, passive: true });
    this.#soon();
  }

  /** After everything that has arrived together is on the page. */
  #soon() {
    queueMicrotask(() => this.#check());
  }

  /** Only the end of a turn makes a session unread, so this asks once for each: not before that end is on the page too. */
  async #check() {
    const { details, lastSeq, renderer, hasLeft } = this.#view;
    if (!details?.unread || hasLeft || this.#asking || document.hidden || renderer.isWorking || !renderer.follow.isFollowing || lastSeq <= this.#marked) return;
    this.#asking = true;
    try {
      await ask(sessionPath(this.#view.sessionId, "seen"), { json: { seq: lastSeq } });
    } catch {
      // It stays unread until the page has something new to show.
      return;
    } finally {
      this.#marked = lastSeq;
      this.#asking = false;
    }
    this.#check();
  }
}
