// Finished blocks as the server renders them. Those that are wanted at about the same time are asked for together.

import { ask, askHtml, sessionPath } from "../lib/api.js";

/** The server's limit. */
const MOST_AT_ONCE = 60;
/** What is not in view yet waits so long for others. */
const GATHER_MS = 60;
/** Characters of HTML that are kept, so that scrolling back asks for nothing. */
const MOST_KEPT = 4 * 1024 * 1024;
const REQUESTS_AT_ONCE = 2;
/** So many messages before and after one that is wanted come with it: they are scrolled to next. */
const AHEAD = 12;

export class RenderedBlocks {
  #sessionId;
  /** Number of an event → `{ promise, resolve, reject }`, in the order in which they were asked for. */
  #wanted = new Map();
  /** The same for those that were asked for. */
  #underWay = new Map();
  /** Messages that were not asked for yet. */
  #ahead = new Set();
  #kept = new Map();
  #keptLength = 0;
  #timer = null;
  #running = 0;

  constructor(sessionId) {
    this.#sessionId = sessionId;
  }

  /**
   * How to load the event with that number: `(all, { now })`; `all` is for outputs that are folded otherwise. One that is
   * always shown rendered (`ahead`) may come with others.
   */
  loader(seq, { ahead = false } = {}) {
    if (ahead && !this.#kept.has(seq)) this.#ahead.add(seq);
    return (all, { now = false } = {}) => (all ? askHtml(this.#path(`block/${seq}.html?all=1`)) : this.#load(seq, now));
  }

  #load(seq, now) {
    const kept = this.#kept.get(seq);
    if (kept !== undefined) return Promise.resolve(kept);
    const underWay = this.#underWay.get(seq);
    if (underWay) return underWay.promise;
    const wanted = this.#wanted.get(seq) ?? Promise.withResolvers();
    this.#wanted.set(seq, wanted);
    // Several blocks may end in the same batch, so even those that are in view wait for the end of it.
    this.#gather(now ? 0 : GATHER_MS);
    return wanted.promise;
  }

  #gather(delay) {
    if (this.#timer !== null && delay > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), delay);
  }

  async #ask() {
    this.#timer = null;
    if (this.#running >= REQUESTS_AT_ONCE || this.#wanted.size === 0) return;
    // The newest first, because that is where people look.
    const batch = [...this.#wanted].slice(-MOST_AT_ONCE);
    for (const [seq] of batch) {
      this.#wanted.delete(seq);
      this.#ahead.delete(seq);
    }
    batch.push(...this.#neighbours(batch));
    for (const [seq, wanted] of batch) this.#underWay.set(seq, wanted);
    this.#running += 1;
    try {
      await this.#fetch(batch);
    } catch (problem) {
      for (const [, { reject }] of batch) reject(problem);
    } finally {
      this.#running -= 1;
      for (const [seq] of batch) this.#underWay.delete(seq);
      if (this.#wanted.size > 0) this.#gather(0);
    }
  }

  /** Messages around those of a batch, which nobody waits for. */
  #neighbours(batch) {
    const known = [...this.#ahead].sort((one, other) => one - other);
    const lowest = Math.min(...batch.map(([seq]) => seq));
    const at = known.findIndex((seq) => seq > lowest);
    const middle = at < 0 ? known.length : at;
    const room = MOST_AT_ONCE - batch.length;
    const found = known.slice(Math.max(0, middle - AHEAD), middle + AHEAD).slice(0, Math.max(0, room));
    return found.map((seq) => {
      this.#ahead.delete(seq);
      const wanted = this.#wanted.get(seq) ?? Promise.withResolvers();
      this.#wanted.delete(seq);
      // If it fails, it is asked for again when it is wanted.
      wanted.promise.catch(() => {});
      return [seq, wanted];
    });
  }

  async #fetch(batch) {
    if (batch.length === 1) {
      const [[seq, { resolve }]] = batch;
      resolve(this.#keep(seq, await askHtml(this.#path(`block/${seq}.html`))));
      return;
    }
    const { blocks } = await ask(this.#path(`blocks?seqs=${batch.map(([seq]) => seq).join(",")}`));
    const found = new Map(blocks.map((block) => [block.seq, block]));
    for (const [seq, wanted] of batch) {
      const { html, provisional = false } = found.get(seq) ?? {};
      // What did not fit into the response is asked for again.
      if (html === undefined) this.#wanted.set(seq, wanted);
      else if (html === null) wanted.reject(new Error(`event ${seq} cannot be shown`));
      else wanted.resolve(provisional ? html : this.#keep(seq, html));
    }
  }

  /** Remembers it, and forgets the oldest when there is too much. */
  #keep(seq, html) {
    this.#kept.set(seq, html);
    this.#keptLength += html.length;
    for (const [oldest, text] of this.#kept) {
      if (this.#keptLength <= MOST_KEPT) break;
      this.#kept.delete(oldest);
      this.#keptLength -= text.length;
    }
    return html;
  }

  #path(below) {
    return sessionPath(this.#sessionId, below);
  }
}
