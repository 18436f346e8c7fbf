// A request that was sent and has no reply: it may have reached the server. Its key is kept with the draft, so that sending the same
// text again, even after a reload, does not create a second prompt. The session's log shows whether it has arrived.

import { newKey } from "../lib/attempts.js";
import { readDraft } from "../lib/drafts.js";
import { keep, kept, parsed } from "../lib/storage.js";

const PREFIX = "flightdeck.unanswered.";
/** What this page has sent, or an earlier one: session → request. It outlasts the way to other sessions. */
const bySession = new Map();

export class UnansweredPrompt {
  #sessionId;

  constructor(sessionId) {
    this.#sessionId = sessionId;
    const earlier = parsed(kept(PREFIX + sessionId));
    const isRequest = [earlier?.key, earlier?.written, earlier?.text].every((one) => typeof one === "string") && Array.isArray(earlier.files);
    if (!this.current && isRequest) bySession.set(sessionId, { ...earlier, attached: [], hasArrived: false });
  }

  /**
   * `{ key, written, text, files, after, attached, hasArrived }` or null: what was written, the text that was sent for it, the names
   * and lengths of its files, the files, and the number of the last event before it (null if that was unknown).
   */
  get current() {
    return bySession.get(this.#sessionId) ?? null;
  }

  /** The request that is being sent: the one without a reply if it is the same, with its key. */
  begin({ written, text, files, after, attached }) {
    const { current } = this;
    const isSame = current && !current.hasArrived && current.text === text && JSON.stringify(current.files) === JSON.stringify(files);
    const request = isSame ? Object.assign(current, { written, attached }) : { key: newKey(), written, text, files, after, attached, hasArrived: false };
    bySession.set(this.#sessionId, request);
    this.keepWith(readDraft(this.#sessionId));
    return { request, isRepeated: Boolean(isSame) };
  }

  /** Whether a prompt of the session's log is the request. */
  is({ seq, text, attachments = [] }) {
    const { current } = this;
    return current !== null && current.after !== null && seq > current.after && text === current.text && attachments.length === current.files.length;
  }

  /** The server has replied, or the log shows the request. */
  forget(request) {
    if (this.current !== request) return;
    bySession.delete(this.#sessionId);
    keep(PREFIX + this.#sessionId, null);
  }

  /** Keeps the request over a reload as long as the draft begins with it: a changed text is another request. */
  keepWith(draft) {
    const { current } = this;
    if (!current) return;
    const { key, written, text, files, after } = current;
    const isUnchanged = written === "" ? draft === "" : draft.startsWith(written);
    keep(PREFIX + this.#sessionId, isUnchanged ? JSON.stringify({ key, written, text, files, after }) : null);
  }
}
