// The newest loss of the agent's session, remembered until the person has dismissed it: over reloads, and after it has
// scrolled out of the part of the log that a page loads.

import { keep, kept, parsed } from "../lib/storage.js";

const PREFIX = "flightdeck.lost-session.";

export class LostSession {
  #key;
  /** `{ notice: { seq, message, detail }, dismissed }`: the newest loss, and the number of the newest dismissed one. */
  #known;

  constructor(sessionId) {
    this.#key = PREFIX + sessionId;
    this.#known = this.#read();
  }

  /** The loss to show, or null. */
  get notice() {
    const { notice, dismissed } = this.#known;
    return notice && notice.seq > dismissed ? notice : null;
  }

  /** Takes a notice of a loss, old or new. Returns whether it is the one to show. */
  take({ seq, message, detail }) {
    // Another tab may have dismissed it.
    this.#known = this.#read(this.#known.notice);
    if (seq < (this.#known.notice?.seq ?? 0)) return false;
    this.#known.notice = { seq, message, detail };
    this.#keep();
    return this.notice !== null;
  }

  dismiss() {
    this.#known.dismissed = Math.max(this.#known.dismissed, this.#known.notice?.seq ?? 0);
    this.#keep();
  }

  #read(fallback = null) {
    const { notice, dismissed } = parsed(kept(this.#key)) ?? {};
    return { notice: typeof notice?.seq === "number" ? notice : fallback, dismissed: typeof dismissed === "number" ? dismissed : 0 };
  }

  /** Without storage the banner comes back with the next page. */
  #keep() {
    keep(this.#key, JSON.stringify(this.#known));
  }
}
