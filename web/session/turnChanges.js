// Which files each turn has changed, as links at the ends of turns. The server compares two snapshots for an answer, so it is
// asked for turns that ran tools only, once their end has stayed in view, one after the other.

import { ask, sessionPath } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { turnChangesAddress } from "../lib/address.js";

/** Ends that are only scrolled past are not asked for. */
const STAYS_MS = 250;

export class TurnChanges {
  #sessionId;
  #signal;
  /** Ends in the document that have no answer yet: element → `{ turn(), usage(), show(link) }`. */
  #waiting = new Map();
  #inView = new Set();
  /** The answer of each turn that is over; it does not change: turn → number of files, or null if it is unknown. */
  #counts = new Map();
  #hasRepository = true;
  #timer = null;
  #isAsking = false;
  #observer = new IntersectionObserver((entries) => this.#see(entries));

  constructor(sessionId, signal) {
    this.#sessionId = sessionId;
    this.#signal = signal;
    signal.addEventListener("abort", () => {
      this.#observer.disconnect();
      clearTimeout(this.#timer);
    });
  }

  /**
   * Shows a link at the end of a turn as soon as it is known that the turn changed files. `turn()` is the name of the turn, null
   * while it is unknown or if it ran no tool; `usage()` what the agent reported of it.
   */
  watch(element, end) {
    if (this.#signal.aborted || !this.#hasRepository) return;
    this.#waiting.set(element, end);
    // Observing it again also reports an end that is already in view.
    this.#observer.unobserve(element);
    this.#observer.observe(element);
  }

  #see(entries) {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) this.#inView.add(target);
      else this.#inView.delete(target);
      // A page of the transcript that is emptied takes its ends with it.
      if (!target.isConnected) this.#forget(target);
    }
    clearTimeout(this.#timer);
    if (this.#inView.size > 0) this.#timer = setTimeout(() => this.#askForNext(), STAYS_MS);
  }

  async #askForNext() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    for (let element = this.#next(); element; element = this.#next()) await this.#answer(element);
    if (!this.#hasRepository) this.#observer.disconnect();
    this.#isAsking = false;
  }

  /** The newest end in view that has no answer. */
  #next() {
    if (!this.#hasRepository || this.#signal.aborted) return null;
    return [...this.#inView].filter((element) => this.#waiting.get(element)?.turn()).at(-1) ?? null;
  }

  async #answer(element) {
    const end = this.#waiting.get(element);
    const turn = end.turn();
    this.#forget(element);
    if (!this.#counts.has(turn)) this.#counts.set(turn, await this.#count(turn));
    if (this.#signal.aborted) return;
    const count = this.#counts.get(turn);
    const isKnownToChange = (end.usage()?.codeChanges?.filesModified ?? 0) > 0;
    if (this.#hasRepository && (count > 0 || (count === null && isKnownToChange))) end.show(link(this.#sessionId, turn, count));
    // The next page that shows it may ask again.
    if (count === null) this.#counts.delete(turn);
  }

  /** How many files a turn changed; null if that is unknown. */
  async #count(turn) {
    try {
      const query = new URLSearchParams({ scope: "turn", turn });
      const { repository, files, view } = await ask(sessionPath(this.#sessionId, `changes?${query}`), { signal: this.#signal });
      this.#hasRepository = Boolean(repository);
      return view ? files.length : null;
    } catch {
      // The link is a convenience: the panel says what is wrong.
      return null;
    }
  }

  #forget(element) {
    this.#waiting.delete(element);
    this.#inView.delete(element);
    this.#observer.unobserve(element);
  }
}

function link(sessionId, turn, count) {
  const text = count === null ? "Changes" : `${plural(count, "file")} changed`;
  return make("a", { class: "turn-changes", href: turnChangesAddress(sessionId, turn), title: "Show what this turn changed", data: { turn }, text });
}
