// The states of all sessions and jobs, from the server's stream. Browsers allow few connections for all tabs together, so one tab
// reads the stream and forwards it to the others.

import { openChannel } from "./channel.js";
import { readEvents } from "./eventStream.js";

const CHANNEL = "flightdeck-inbox";
const LOCK = "flightdeck-inbox";
const RETRY_AFTER = 3000;

class InboxStream extends EventTarget {
  /** The latest state of each session: id → `{ sessionId, title, state, detail, pending, workingDirectory, unread, failed }`. */
  entries = new Map();
  /** The latest state of each job: id → `{ jobId, jobName, status, waiting }`. */
  jobs = new Map();
  /** Whether this tab reads the stream; only this tab shows notifications. */
  isListener = false;
  #connected = null;
  #channel = null;
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
    this.#channel = openChannel(CHANNEL);
    if (navigator.locks && this.#channel) this.#startShared();
    else this.#listen();
  }

  /** The server is being stopped, so no tab should reconnect. */
  stop() {
    this.#stopped.abort();
  }

  #startShared() {
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    this.#channel.postMessage({ kind: "hello" });
    // The lock is held until this tab goes away; then the next tab in line gets it.
    const holding = navigator.locks.request(LOCK, () => {
      this.#listen();
      return new Promise(() => {});
    });
    // A browser that refuses storage may refuse locks too: each tab then listens for itself.
    holding.catch(() => this.#listen());
  }

  /** Handles a message from another tab. */
  #hear({ kind, entry, entries, connected }) {
    if (kind === "hello" && this.isListener) this.#tell({ kind: "all", entries: [...this.entries.values(), ...this.jobs.values()], connected: this.#connected });
    else if (this.isListener) return;
    else if (kind === "all") this.#replace(entries, connected);
    else if (kind === "entry") this.#take(entry);
    else if (kind === "connected") this.#setConnected(connected);
  }

  #tell(message) {
    this.#channel?.postMessage(message);
  }

  async #listen() {
    this.isListener = true;
    while (!this.#stopped.signal.aborted) {
      await this.#read();
      this.#setConnected(false);
      await this.#pause();
    }
  }

  /** Reads the stream until it ends, for whatever reason. */
  async #read() {
    let fresh = true;
    try {
      await readEvents("api/events", {
        signal: this.#stopped.signal,
        onOpen: () => this.#setConnected(true),
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

  #pause() {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, RETRY_AFTER);
      this.#stopped.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
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
