// The history of a session: loaded from its end, page by page as the reader scrolls up, and unloaded when it is far
// away, so that a session of any length stays light.

import { ask, sessionPath } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { exactTime } from "../lib/format.js";
import { endsOf, stretches } from "./farEvents.js";

/** As early.js asks for it. */
const FIRST_PAGE = 40;
const NEXT_PAGE = 400;
/** The most that the server returns at once. */
const LONGEST_PAGE = 1000;
/** Larger than any event number. */
const THE_END = Number.MAX_SAFE_INTEGER;
/** Older pages are loaded when the reader is this close to the top, in heights of the view. */
const AHEAD = 2;
/** Further back than this, what is in between is not loaded. */
const FAR = 3 * NEXT_PAGE;
/** How high a stretch is taken to be until it is loaded. */
const STRETCH_HEIGHT = 8000;
/** Pages that stay filled. */
const PAGES_KEPT = 5;

export class History {
  #sessionId;
  #renderer;
  #scroller;
  #top;
  #older = null;
  /** The page that is being loaded. */
  #loading = null;
  #problem = null;
  #ended = new AbortController();
  #reloads;

  /** Called with events from before everything that was shown. */
  onOlder = () => {};

  constructor(sessionId, renderer, scroller) {
    this.#sessionId = sessionId;
    this.#renderer = renderer;
    this.#scroller = scroller;
    this.#top = make("div", { class: "history-top" });
    scroller.prepend(this.#top);
    this.#reloads = new IntersectionObserver((entries) => this.#reload(entries), { root: scroller, rootMargin: "1500px 0px" });
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true, signal: this.#ended.signal });
  }

  /** Fetches the last screens: `{ events, next }`. */
  fetchEnd() {
    return this.#ask(`before=${THE_END}&limit=${FIRST_PAGE}`);
  }

  /** Shows the result of `fetchEnd`. */
  showEnd({ events, next }) {
    if (events.length > 0) this.#renderer.prependEvents(events);
    this.#older = next ?? null;
    this.#showTop(events[0]?.time);
    this.#renderer.follow.follow();
  }

  /** Fills the view, however short the first page was. */
  async fillView() {
    while (this.#older !== null && !this.#problem && this.#isNearTop() && !this.#ended.signal.aborted) await this.#loadOlder();
  }

  /** Loads until the event with that number is there: a request that waits must be, however far back it is. */
  async loadBackTo(seq) {
    while (this.#older !== null && this.#renderer.firstSeq > seq && !this.#problem && !this.#ended.signal.aborted) await this.#loadOlder();
  }

  /** Loads the event with that number and what is around it. Returns whether it is there; rejects if it could not be loaded. */
  async goTo(seq) {
    // Another jump says itself what went wrong with it.
    await this.#loading?.catch(() => {});
    this.#problem = null;
    if (this.#renderer.firstSeq - seq > FAR && this.#older !== null) await this.#loadFar(seq);
    else await this.loadBackTo(seq);
    const page = this.#renderer.pages.find(({ firstSeq, lastSeq }) => firstSeq <= seq && seq <= lastSeq);
    if (!page && this.#problem) throw this.#problem;
    if (page && !page.isLoaded) await this.#fillAgain(page);
    return page !== undefined;
  }

  /** Events from `after` up to and with `last`, straight from the log. */
  async read(after, last) {
    const found = [];
    for (let from = after; from < last; ) {
      const { events, next } = await this.#ask(`after=${from}&limit=${Math.min(last - from, LONGEST_PAGE)}`);
      found.push(...events.filter(({ seq }) => seq <= last));
      if (next === undefined || events.length === 0) break;
      from = next;
    }
    return found;
  }

  /** Pages that are far from the view are emptied; call when something was added. */
  letGoOfFarPages() {
    const loaded = this.#renderer.pages.filter((page) => page.isLoaded);
    if (loaded.length <= PAGES_KEPT) return;
    const middle = this.#scroller.scrollTop + this.#scroller.clientHeight / 2;
    const distance = ({ element }) => Math.abs(element.offsetTop + element.offsetHeight / 2 - middle);
    const far = loaded.sort((one, other) => distance(other) - distance(one)).slice(0, loaded.length - PAGES_KEPT);
    for (const page of far) if (this.#renderer.unloadPage(page)) this.#reloads.observe(page.element);
  }

  end() {
    this.#ended.abort();
    this.#reloads.disconnect();
  }

  #ask(query) {
    return ask(sessionPath(this.#sessionId, `log?${query}`), { signal: this.#ended.signal });
  }

  #scrolled() {
    // After a failure, the Retry button or a new visit to the top retries, not every small scroll.
    if (!this.#isNearTop()) this.#problem = null;
    else if (!this.#problem) this.#loadOlder();
    this.letGoOfFarPages();
  }

  #isNearTop() {
    return this.#scroller.scrollTop < AHEAD * this.#scroller.clientHeight;
  }

  /** One page at a time; who asks meanwhile waits for the same one. */
  #loadOlder() {
    if (this.#older === null) return Promise.resolve();
    this.#loading ??= this.#fetchOlder().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #fetchOlder() {
    this.#problem = null;
    try {
      const { events, next } = await this.#ask(`before=${this.#older}&limit=${NEXT_PAGE}`);
      this.#keepingPlace(() => {
        if (events.length > 0) this.#renderer.prependEvents(events);
        this.#older = next ?? null;
        this.#showTop(events[0]?.time);
      });
      this.onOlder(events);
    } catch (problem) {
      if (this.#ended.signal.aborted) return;
      this.#problem = problem;
      this.#showTop();
    }
  }

  /** Loads the events around a number, and leaves what is between them and the rest for later. */
  #loadFar(seq) {
    const load = async () => {
      const before = this.#renderer.firstSeq;
      const { events, next } = await this.#ask(`before=${seq + NEXT_PAGE / 2}&limit=${NEXT_PAGE}`);
      const ends = await endsOf(events, before, (after) => this.#ask(`after=${after}&limit=${LONGEST_PAGE}`));
      if (this.#ended.signal.aborted) return;
      const gaps = this.#renderer.prependFarEvents(events, ends, stretches(events.at(-1)?.seq ?? seq, before), STRETCH_HEIGHT);
      for (const { element } of gaps) this.#reloads.observe(element);
      this.#older = next ?? null;
      this.#showTop(events[0]?.time);
    };
    this.#loading = load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #reload(entries) {
    for (const { target, isIntersecting } of entries) {
      const page = this.#renderer.pages.find(({ element }) => element === target);
      if (!isIntersecting || !page || page.isLoaded) continue;
      try {
        await this.#fillAgain(page);
      } catch {
        // Retried when the page comes into view again.
        if (!this.#ended.signal.aborted) this.#reloads.observe(target);
      }
    }
  }

  async #fillAgain(page) {
    this.#reloads.unobserve(page.element);
    const ends = [...page.endsElsewhere.values()].map((end) => this.read(end - 1, end));
    const events = (await Promise.all([this.read(page.firstSeq - 1, page.lastSeq), ...ends])).flat();
    if (page.isLoaded || this.#ended.signal.aborted) return;
    this.#keepingPlace(() => this.#renderer.refillPage(page, events));
    this.letGoOfFarPages();
  }

  /** What the reader looks at stays where it is, whatever is put above it. */
  #keepingPlace(change) {
    const { top } = this.#scroller.getBoundingClientRect();
    const isBelow = (element) => element.getBoundingClientRect().bottom > top;
    const page = this.#renderer.pages.find(({ element }) => isBelow(element))?.element;
    const anchor = page && ([...page.children].find(isBelow) ?? page);
    const before = anchor?.getBoundingClientRect().top;
    change();
    if (anchor?.isConnected) this.#scroller.scrollTop += anchor.getBoundingClientRect().top - before;
  }

  #showTop(firstTime) {
    if (this.#problem) {
      const again = make("button", { type: "button", class: "quiet-button", text: "Retry", on: { click: () => this.#loadOlder() } });
      this.#top.replaceChildren(make("span", { text: `Could not load earlier messages: ${this.#problem.message}` }), " ", again);
    } else if (this.#older !== null) {
      this.#top.replaceChildren(make("span", { text: "Loading earlier messages …" }));
    } else if (firstTime) {
      this.#top.replaceChildren(make("span", { text: `Start of the session · ${exactTime(firstTime)}` }));
    } else {
      this.#top.replaceChildren();
    }
  }
}
