// All sessions, newest first, kept up to date by the inbox stream.

import { ask } from "./api.js";
import { inbox } from "./inboxStream.js";

const PAGE = 200;

class SessionList extends EventTarget {
  sessions = [];
  #next = null;
  #asking = null;
  isLoaded = false;
  problem = null;

  constructor() {
    super();
    inbox.addEventListener("entry", ({ detail: { entry } }) => this.#hear(entry));
  }

  get hasMore() {
    return this.#next !== null;
  }

  /** Reloads the newest sessions. */
  load() {
    this.#asking ??= this.#fetch(`limit=${PAGE}`)
      .then(({ sessions, next }) => {
        this.sessions = sessions.map((session) => this.#withNews(session));
        this.#next = next ?? null;
        this.#changed();
      })
      .finally(() => {
        this.#asking = null;
      });
    return this.#asking;
  }

  /** Loads the next older sessions. */
  async loadMore() {
    if (!this.#next) return;
    const { sessions, next } = await this.#fetch(`limit=${PAGE}&after=${encodeURIComponent(this.#next)}`);
    const known = new Set(this.sessions.map(({ sessionId }) => sessionId));
    this.sessions.push(...sessions.filter(({ sessionId }) => !known.has(sessionId)));
    this.#next = next ?? null;
    this.#changed();
  }

  /** Open sessions that work in a folder. */
  openIn(path) {
    const plain = (text) => text.replace(/[\\/]+$/, "");
    return path ? this.sessions.filter(({ workingDirectory, state }) => state !== "closed" && workingDirectory && plain(workingDirectory) === plain(path)) : [];
  }

  /** Applies a change made on this page before the server confirms it. */
  change(sessionId, news) {
    this.sessions = this.sessions.map((session) => (session.sessionId === sessionId ? { ...session, ...news } : session));
    this.#changed();
  }

  remove(sessionId) {
    this.sessions = this.sessions.filter((session) => session.sessionId !== sessionId);
    this.#changed();
  }

  async #fetch(query) {
    try {
      const reply = await ask(`api/copilot/session?${query}`);
      this.problem = null;
      this.isLoaded = true;
      return reply;
    } catch (problem) {
      this.problem = problem;
      this.#changed();
      throw problem;
    }
  }

  #withNews(session) {
    const news = inbox.entries.get(session.sessionId);
    return news ? { ...session, title: news.title, state: news.state, pending: news.pending.length } : session;
  }

  #hear({ sessionId, title, state, pending }) {
    if (!this.isLoaded) return;
    const known = this.sessions.some((session) => session.sessionId === sessionId);
    if (state === null) this.remove(sessionId);
    else if (known) this.change(sessionId, { title, state, pending: pending.length, updatedAt: new Date().toISOString() });
    // The stream does not contain its folder and model.
    else this.load().catch(() => {});
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

export const sessionList = new SessionList();
