// The tasks that this tab has run in a session, in the tab's storage: a reload shows their decisions where they were, and
// follows those that still run. Decisions are not in the session's own log.

import { keepInTab, keptInTab, parsed } from "../lib/storage.js";

const KEPT = "flightdeck.tasks.";
/** The newest decisions; a tab's storage is small. */
const MOST = 300;

export class KeptTasks {
  #key;
  #running;
  #decisions;

  constructor(sessionId) {
    this.#key = KEPT + sessionId;
    const { running = {}, decisions = [] } = this.#read();
    this.#running = new Map(Object.entries(running));
    this.#decisions = decisions;
  }

  /** `{ after, time, reason }` of each decision, oldest first; `after` is the event of the session that it follows. */
  get decisions() {
    return this.#decisions;
  }

  /** The tasks that have not ended, as far as this tab knows. */
  get running() {
    return [...this.#running.keys()];
  }

  /** How many responses of a task have been taken. */
  taken(taskId) {
    return this.#running.get(taskId) ?? 0;
  }

  begin(taskId) {
    this.#running.set(taskId, 0);
    this.#write();
  }

  /** Takes the next response of a task, with its decision if it is one: both or neither are there after a reload. */
  take(taskId, decision = null) {
    this.#running.set(taskId, this.taken(taskId) + 1);
    if (decision) this.#decisions = [...this.#decisions, decision].slice(-MOST);
    this.#write();
  }

  end(taskId) {
    this.#running.delete(taskId);
    this.#write();
  }

  #read() {
    return parsed(keptInTab(this.#key)) ?? {};
  }

  /** Without storage, a reload shows the session without the decisions. */
  #write() {
    keepInTab(this.#key, JSON.stringify({ running: Object.fromEntries(this.#running), decisions: this.#decisions }));
  }
}
