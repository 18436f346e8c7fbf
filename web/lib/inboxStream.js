// The states of all sessions and jobs, from the server's stream. Browsers allow few connections for all tabs together, so one tab
// reads the stream and forwards it to the others.

import { openChannel } from "./channel.js";
import { Connection } from "./connection.js";
import { readEvents } from "./eventStream.js";

const CHANNEL = "flightdeck-inbox";
const LOCK = "flightdeck-inbox";

class InboxStream extends EventTarget {
  /** The latest state of each session: id → `{ sessionId, title, state, detail, pending, workingDirectory, unread, failed }`. */
  entries = new Map();
  /** The latest state of each job: id → `{ jobId, jobName, status, waiting }`. */
  jobs = new Map();
  /** Whether this tab reads the stream; only this tab shows notifications. */
  isListener = false;
  #connected = null;
  #channel = null;
  #connection = new Connection();
  #stopped = new AbortController();

  /** null until something is known, then whether the server answers. */
  get isConnected() {
    return this.#connected;
  }

  /** What waits for a person, in all sessions and jobs. */
  get pendingCount() {
    const waits = [...this.entries.values()].map(({ pending }) => pending).concat([...this.jobs.values()].map(({ waiting }) => waiting));
    return waits.reduce((sum, { length }) => sum + length, 0);
  }

  start() {
    this.#stopped = new AbortController();
    const { signal } = this.#stopped;
    this.#channel = openChannel(CHANNEL);
    if (navigator.locks && this.#channel) this.#startShared(signal);
    else this.#listen(signal);
    document.addEventListener("visibilitychange", () => this.#look(), { signal });
  }

  /** The server is being stopped, so this tab should not reconnect. Another tab takes over and waits for its return. */
  stop() {
    this.#stopped.abort();
    this.#connection.now();
    this.#channel?.close();
    this.#channel = null;
    this.isListener = false;
  }

  #startShared(signal) {
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    this.#channel.postMessage({ kind: "hello" });
    // The lock is held until this tab stops or goes away; then the next tab in line gets it. A browser that refuses storage
    // may refuse locks too: each tab then listens for itself.
    navigator.locks.request(LOCK, { signal }, () => this.#listen(signal)).catch(() => this.#listen(signal));
  }

  /** Somebody looks at this tab, so the listening tab should try again at once. */
  #look() {
    if (!document.hidden && !this.isListener && this.#connected === false) this.#tell({ kind: "hello" });
  }

  /** Handles a message from another tab. */
  #hear({ kind, entry, entries, connected }) {
    if (kind === "hello" && this.isListener) this.#greet();
    else if (this.isListener) return;
    else if (kind === "all") this.#replace(entries, connected);
    else if (kind === "entry") this.#take(entry);
    else if (kind === "connected") this.#setConnected(connected);
  }

  /** Answers a tab that was opened or is being looked at. */
  #greet() {
    this.#tell({ kind: "all", entries: [...this.entries.values(), ...this.jobs.values()], connected: this.#connected });
    this.#connection.now();
  }

  #tell(message) {
    this.#channel?.postMessage(message);
  }

  async #listen(signal) {
    if (signal.aborted) return;
    this.isListener = true;
    for (;;) {
      await this.#read(signal);
      if (signal.aborted) return;
      this.#setConnected(false);
      await this.#connection.failed();
      if (signal.aborted) return;
    }
  }

  /** Reads the stream until it ends, for whatever reason. */
  async #read(signal) {
    let fresh = true;
    try {
      await readEvents("api/events", {
        signal,
        onOpen: () => {
          this.#connection.succeeded();
          this.#setConnected(true);
        },
        onData: (data) => {
          // The first event after a connection starts over: deleted sessions are not mentioned.
          if (fresh) this.#replace([], true);
          fresh = false;
          const entry = JSON.parse(data);
          this.#take(entry);
          this.#tell({ kind: "entry", entry });
        },
      });
    } catch {
      // Retried after a pause.
    }
  }

  #replace(entries, connected) {
    this.entries = new Map(entries.filter((entry) => !isJob(entry)).map((entry) => [entry.sessionId, entry]));
    this.jobs = new Map(entries.filter(isJob).map((job) => [job.jobId, withWaiting(job)]));
    if (this.isListener) this.#tell({ kind: "all", entries, connected });
    this.#connected = connected;
    this.dispatchEvent(new Event("change"));
    this.dispatchEvent(new Event("connection"));
  }

  #take(entry) {
    if (isJob(entry)) {
      this.#takeJob(withWaiting(entry));
      return;
    }
    const before = this.entries.get(entry.sessionId);
    if (entry.state === null) this.entries.delete(entry.sessionId);
    else this.entries.set(entry.sessionId, entry);
    this.dispatchEvent(new CustomEvent("entry", { detail: { entry, before } }));
    this.dispatchEvent(new Event("change"));
  }

  #takeJob(job) {
    const before = this.jobs.get(job.jobId);
    if (job.status === null) this.jobs.delete(job.jobId);
    else this.jobs.set(job.jobId, job);
    this.dispatchEvent(new CustomEvent("job", { detail: { job, before } }));
    this.dispatchEvent(new Event("change"));
  }

  #setConnected(connected) {
    if (this.#connected === connected) return;
    this.#connected = connected;
    if (this.isListener) this.#tell({ kind: "connected", connected });
    this.dispatchEvent(new Event("connection"));
  }
}

/** Messages about sessions name their session, whatever else they name. */
function isJob({ sessionId, jobId }) {
  return sessionId === undefined && jobId !== undefined;
}

function withWaiting(job) {
  return { ...job, waiting: job.waiting ?? [] };
}

export const inbox = new InboxStream();
