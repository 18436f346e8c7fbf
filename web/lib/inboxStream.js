// The states of all sessions and jobs, from the server's stream. Browsers allow few connections for all tabs together, so one tab
// reads the stream and forwards it to the others.

import { openChannel } from "./channel.js";
import { Connection } from "./connection.js";
import { readEvents } from "./eventStream.js";

const CHANNEL = "flightdeck-inbox";
const LOCK = "flightdeck-inbox";
/** The event after the latest states of everything that is open. */
const CURRENT = "current";

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
  /** Whether everything that is open was known once. */
  #wasCurrent = false;
  /** What the server no longer mentions. After a restart it may mention some things a moment later than the others. */
  #missing = new Map();

  /** null until something is known, then whether the server answers. */
  get isConnected() {
    return this.#connected;
  }

  /** Whether everything that is open has been mentioned. */
  get isComplete() {
    return this.#wasCurrent;
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
  #hear({ kind, entry, entries, connected, wasCurrent }) {
    if (kind === "hello" && this.isListener) this.#greet();
    else if (this.isListener) return;
    else if (kind === "all") this.#takeAll(entries, connected, wasCurrent);
    else if (kind === "entry") this.#take(entry);
    else if (kind === "connected") this.#setConnected(connected);
  }

  /** Answers a tab that was opened or is being looked at. */
  #greet() {
    this.#tellAll();
    this.#connection.now();
  }

  #tell(message) {
    this.#channel?.postMessage(message);
  }

  #tellAll() {
    this.#tell({ kind: "all", entries: [...this.entries.values(), ...this.jobs.values()], connected: this.#connected, wasCurrent: this.#wasCurrent });
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
    const mentioned = new Set();
    let isCurrent = false;
    try {
      await readEvents("api/events", {
        signal,
        onOpen: () => {
          this.#connection.succeeded();
          this.#setConnected(true);
        },
        onData: (data, { event }) => {
          if (event === CURRENT) {
            isCurrent = true;
            this.#wasCurrent = true;
            this.#keepOnly(mentioned);
            this.#tellAll();
            this.dispatchEvent(new Event("change"));
            return;
          }
          const entry = JSON.parse(data);
          mentioned.add(idOf(entry));
          this.#take(entry, { duringGap: this.#wasCurrent && !isCurrent });
          this.#tell({ kind: "entry", entry });
        },
      });
    } catch {
      // Retried after a pause.
    }
  }

  /** Takes over everything that the listening tab knows. */
  #takeAll(entries, connected, wasCurrent) {
    for (const entry of entries) this.#put(entry);
    // A tab that has only begun to listen may know less than this one.
    if (wasCurrent) {
      this.#wasCurrent = true;
      this.#keepOnly(new Set(entries.map(idOf)));
    }
    this.#connected = connected;
    this.dispatchEvent(new Event("change"));
    this.dispatchEvent(new Event("connection"));
  }

  /** What the server does not mention is over, or was deleted. */
  #keepOnly(mentioned) {
    for (const known of [this.entries, this.jobs]) {
      for (const [id, entry] of known) {
        if (mentioned.has(id)) continue;
        known.delete(id);
        this.#missing.set(id, entry);
      }
    }
  }

  /** `duringGap` is whether it happened while no tab was connected: what is unknown is then new. */
  #take(entry, { duringGap = false } = {}) {
    const before = this.#put(entry);
    const detail = { before, isNew: duringGap && !before };
    if (isJob(entry)) this.dispatchEvent(new CustomEvent("job", { detail: { ...detail, job: withWaiting(entry) } }));
    else this.dispatchEvent(new CustomEvent("entry", { detail: { ...detail, entry } }));
    this.dispatchEvent(new Event("change"));
  }

  /** Remembers the latest state of a session or a job. Returns the one before. */
  #put(entry) {
    const id = idOf(entry);
    const known = isJob(entry) ? this.jobs : this.entries;
    const before = known.get(id) ?? this.#missing.get(id);
    this.#missing.delete(id);
    if (entry.state === null || entry.status === null) known.delete(id);
    else known.set(id, isJob(entry) ? withWaiting(entry) : entry);
    return before;
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

function idOf({ sessionId, jobId }) {
  return sessionId ?? jobId;
}

function withWaiting(job) {
  return { ...job, waiting: job.waiting ?? [] };
}

export const inbox = new InboxStream();
