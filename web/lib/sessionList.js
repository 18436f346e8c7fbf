// All sessions, newest first, kept up to date by the inbox stream.

import { ask } from "./api.js";
import { inbox } from "./inboxStream.js";
import { BUSY_STATES } from "./states.js";

const PAGE = 200;
/** Messages that come together are one change: a new connection repeats everything. */
const TOGETHER = 40;

class SessionList extends EventTarget {
  sessions = [];
  #next = null;
  #asking = null;
  isLoaded = false;
  problem = null;
  #wasLost = false;
  #scheduled = null;

  constructor() {
    super();
    inbox.addEventListener("entry", ({ detail: { entry, before } }) => this.#hear(entry, before));
    inbox.addEventListener("connection", () => this.#connected());
  }

  get hasMore() {
    return this.#next !== null;
  }

  /** Reloads the newest sessions. */
  load() {
    this.#asking ??= this.#loadNewest().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #loadNewest() {
    const known = new Set(inbox.entries.keys());
    const { sessions, next } = await this.#fetch(`limit=${PAGE}`);
    this.sessions = sessions.map((session) => this.#withNews(session));
    this.#next = next ?? null;
    this.#changed();
    // Created while the reply was on its way: asked for once this is over.
    const newest = Math.max(0, ...sessions.map(number));
    const isMissing = (sessionId) => !known.has(sessionId) && number({ sessionId }) > newest;
    if ([...inbox.entries.keys()].some(isMissing)) setTimeout(() => this.load().catch(() => {}));
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

  /** Open sessions in a folder. */
  openIn(path) {
    const plain = (text) => text.replace(/[\\/]+$/, "");
    return path ? this.sessions.filter(({ workingDirectory, state }) => state !== "closed" && workingDirectory && plain(workingDirectory) === plain(path)) : [];
  }

  /** Sessions in a folder in which a turn runs. */
  workingIn(path) {
    return this.openIn(path).filter(({ state }) => BUSY_STATES.includes(state));
  }

  /** Applies a change made on this page before the server confirms it. */
  change(sessionId, news) {
    this.#change(sessionId, news);
    this.#changed();
  }

  remove(sessionId) {
    this.#remove(sessionId);
    this.#changed();
  }

  #change(sessionId, news) {
    this.sessions = this.sessions.map((session) => (session.sessionId === sessionId ? { ...session, ...news } : session));
  }

  #remove(sessionId) {
    this.sessions = this.sessions.filter((session) => session.sessionId !== sessionId);
  }

  /** A page of sessions, without those that were deleted since it was asked for. */
  async #fetch(query) {
    const deleted = new Set();
    const hear = ({ detail: { entry } }) => entry.state === null && deleted.add(entry.sessionId);
    inbox.addEventListener("entry", hear);
    try {
      const { sessions, next } = await ask(`api/copilot/session?${query}`);
      this.problem = null;
      this.isLoaded = true;
      return { sessions: sessions.filter(({ sessionId }) => !deleted.has(sessionId)), next };
    } catch (problem) {
      this.problem = problem;
      this.#changed();
      throw problem;
    } finally {
      inbox.removeEventListener("entry", hear);
    }
  }

  /** What was deleted meanwhile is not mentioned by the stream. */
  #connected() {
    if (inbox.isConnected && this.#wasLost && this.isLoaded) this.load().catch(() => {});
    this.#wasLost = inbox.isConnected === false;
  }

  #withNews(session) {
    const news = inbox.entries.get(session.sessionId);
    return news ? { ...session, ...newsOf(news) } : session;
  }

  #hear(entry, before) {
    if (!this.isLoaded) return;
    const { sessionId, state } = entry;
    const known = this.sessions.some((session) => session.sessionId === sessionId);
    // The stream does not contain its model. Those on older pages are loaded with their page.
    if (state !== null && !known) {
      if (!this.hasMore || number(entry) > number(this.sessions.at(-1))) this.load().catch(() => {});
      return;
    }
    if (state === null) this.#remove(sessionId);
    else this.#change(sessionId, { ...newsOf(entry), ...(hasMoved(entry, before) ? { updatedAt: new Date().toISOString() } : {}) });
    // A timer and no frame: hidden tabs have no frames.
    this.#scheduled ??= setTimeout(() => this.#changed(), TOGETHER);
  }

  #changed() {
    clearTimeout(this.#scheduled);
    this.#scheduled = null;
    this.dispatchEvent(new Event("change"));
  }
}

function number({ sessionId }) {
  return Number(sessionId.replace(/\D/g, ""));
}

/** What the stream says about a session, in the words of the list. */
function newsOf({ title, state, pending, unread = false, failed = false }) {
  return { title, state, pending: pending.length, unread, failed };
}

/** Whether something happened in the session: that somebody read it is no activity, nor is what a new connection repeats. */
function hasMoved(entry, before) {
  return Boolean(before) && (entry.state !== before.state || entry.title !== before.title || entry.pending.length !== before.pending.length || (entry.unread === true && before.unread !== true));
}

export const sessionList = new SessionList();
