// The states of all sessions, from the server's stream. Browsers allow few connections for all tabs together, so one tab
// reads the stream and forwards it to the others.

import { readEvents } from "./eventStream.js";

const CHANNEL = "flightdeck-inbox";
const LOCK = "flightdeck-inbox";
const RETRY_AFTER = 3000;

class InboxStream extends EventTarget {
  /** The latest state of each session: id → `{ sessionId, title, state, detail, pending }`. */
  entries = new Map();
  /** Whether this tab reads the stream; only this tab shows notifications. */
  isListener = false;
  #connected = null;
  #channel = null;
  #stopped = new AbortController();

  /** null until something is known, then whether the server answers. */
  get isConnected() {
    return this.#connected;
  }

  /** Requests that wait for a person, in all sessions. */
  get pendingCount() {
    return [...this.entries.values()].reduce((sum, { pending }) => sum + pending.length, 0);
  }

  start() {
    if (navigator.locks && typeof BroadcastChannel === "function") this.#startShared();
    else this.#listen();
  }

  /** The server is being stopped, so no tab should reconnect. */
  stop() {
    this.#stopped.abort();
  }

  #startShared() {
    this.#channel = new BroadcastChannel(CHANNEL);
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    this.#channel.postMessage({ kind: "hello" });
    // The lock is held until this tab goes away; then the next tab in line gets it.
    navigator.locks.request(LOCK, () => {
      this.#listen();
      return new Promise(() => {});
    });
  }

  /** Handles a message from another tab. */
  #hear({ kind, entry, entries, connected }) {
    if (kind === "hello" && this.isListener) this.#tell({ kind: "all", entries: [...this.entries.values()], connected: this.#connected });
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
    this.entries = new Map(entries.map((entry) => [entry.sessionId, entry]));
    if (this.isListener) this.#tell({ kind: "all", entries, connected });
    this.#connected = connected;
    this.dispatchEvent(new Event("change"));
    this.dispatchEvent(new Event("connection"));
  }

  #take(entry) {
    const before = this.entries.get(entry.sessionId);
    if (entry.state === null) this.entries.delete(entry.sessionId);
    else this.entries.set(entry.sessionId, entry);
    this.dispatchEvent(new CustomEvent("entry", { detail: { entry, before } }));
    this.dispatchEvent(new Event("change"));
  }

  #setConnected(connected) {
    if (this.#connected === connected) return;
    this.#connected = connected;
    if (this.isListener) this.#tell({ kind: "connected", connected });
    this.dispatchEvent(new Event("connection"));
  }
}

export const inbox = new InboxStream();
