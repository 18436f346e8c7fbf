// Follows a session: one call at a time.

import { ask, Problem, sessionPath } from "../lib/api.js";
import { Connection } from "../lib/connection.js";

/** A hidden tab polls less often, because browsers allow few connections for all tabs together. */
const PAUSE_WHILE_HIDDEN = 20_000;

export class Polling {
  #sessionId;
  #after;
  #readLog;
  #stopped = new AbortController();
  #token = null;
  #connection = new Connection();

  /** `{ data, seq, time }` of each response. */
  onResponse = () => {};
  /** After each batch. */
  onBatch = () => {};
  /** "closed" or "not-found": nothing more comes. */
  onEnd = () => {};
  /** `null` when the server answers, else `{ problem, retryAt }`. */
  onConnection = () => {};

  /** `readLog(after, last)` gives events with their numbers. */
  constructor(sessionId, after, readLog) {
    this.#sessionId = sessionId;
    this.#after = after;
    this.#readLog = readLog;
    this.#connection.onChange = (lost) => this.onConnection(lost);
  }

  get after() {
    return this.#after;
  }

  get isStopped() {
    return this.#stopped.signal.aborted;
  }

  async run() {
    while (!this.isStopped) {
      try {
        const end = await this.#poll();
        if (this.isStopped) return;
        this.#connection.succeeded();
        if (end) {
          this.stop();
          this.onEnd(end);
          return;
        }
        if (document.hidden) await this.#connection.pause(PAUSE_WHILE_HIDDEN);
      } catch (problem) {
        if (this.isStopped) return;
        if (!(problem instanceof Problem)) throw problem;
        await this.#connection.failed(problem);
      }
    }
  }

  /** Ends a pause: the tab is visible again, or the reader pressed Retry. */
  now() {
    this.#connection.now();
  }

  stop() {
    this.#stopped.abort();
    this.#connection.now();
  }

  /** Returns why nothing more comes, or undefined. */
  async #poll() {
    const { signal } = this.#stopped;
    // An answer that was lost on the way is read again with a new token: a token's place moves when the answer leaves.
    const token = this.#token ?? (await ask("api/token", { signal })).token;
    this.#token = null;
    // Nobody looks at a hidden tab, so its person is notified.
    const hidden = document.hidden ? "&hidden=true" : "";
    const reply = await ask(sessionPath(this.#sessionId, `live/${token}?after=${this.#after}&times=true${hidden}`), { signal });
    if (reply.responses) await this.#take(reply);
    else if (reply.error === "SessionClosed") return "closed";
    else if (reply.error === "SessionNotFound") return "not-found";
    else if (reply.error === "ParallelCallNotSupported") return undefined;
    else if (reply.error !== "HttpRequestTimeout") throw new Problem(`The server returned ${reply.error}.`, { status: 200, code: reply.error });
    this.#token = token;
    return undefined;
  }

  async #take({ responses, lastSeq, times = [] }) {
    const wanted = lastSeq - this.#after;
    if (responses.length === wanted) {
      // The server's times, so that every tab shows the same.
      responses.forEach((data, index) => this.onResponse({ data, seq: this.#after + 1 + index, time: new Date(times[index] ?? Date.now()) }));
    } else {
      // Pieces of blocks that have ended meanwhile are left out, so only the log knows the numbers of the rest.
      const events = await this.#readLog(this.#after, lastSeq);
      if (this.isStopped) return;
      for (const { seq, time, response } of events) this.onResponse({ data: response, seq, time: new Date(time) });
    }
    this.#after = lastSeq;
    this.onBatch();
  }
}
