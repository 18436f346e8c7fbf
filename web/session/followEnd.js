// Keeps the end in view while something arrives, and stops when the reader scrolls up. A reader who does not follow the
// end stays where they are, whatever changes above.

import { byId, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { fullHeight } from "./fullHeight.js";
import { holdMovedCards } from "./openCards.js";
import { OPENING } from "./opening.js";

const NEAR_END = 24;
/** What is shown above the beginning of an answer. */
const ABOVE_ANSWER = 8;
/** Places near the top of the view, of which one has a block. */
const LOOK_AT = [2, 14, 30, 60];
/** The search from the last anchor covers at most this many blocks. */
const NEAR_ANCHOR = 20;

/** What shows more when it is pressed, besides the blocks themselves. */
const OPENERS = ".show-all, .show-all-text, summary";

export class FollowEnd {
  #scroller;
  #following = true;
  /** The reader has just opened or closed something. */
  #opens = false;
  /** Cards that have been shown from their beginning. */
  #begun = new WeakSet();
  #lastTop = 0;
  #observer;
  /** The answer that is being read since it was complete. */
  #held = null;
  /** What is at the top of the view and how far from its edge. */
  #anchor = null;

  /** Called when following begins or ends. */
  onChange = () => {};

  constructor(scroller) {
    this.#scroller = scroller;
    // Called after layout and before paint, once for whatever happened in between: nothing flickers, nothing is measured twice.
    this.#observer = new ResizeObserver(() => this.#keepPlace());
    this.#observer.observe(scroller);
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    // What the reader opens or closes stays under the pointer.
    scroller.addEventListener("click", ({ target }) => target.closest(OPENERS) && this.#letOpen(target), { capture: true });
    scroller.addEventListener(OPENING, ({ target }) => this.#letOpen(target));
  }

  get isFollowing() {
    return this.#following;
  }

  /** Watches something inside whose height changes. */
  watch(element) {
    this.#observer.observe(element);
  }

  /** Goes to the end and follows it again. */
  follow() {
    this.#held = null;
    this.#set(true);
    this.#toEnd();
  }

  /** Stays where the reader is. */
  stop() {
    this.#held = null;
    this.#set(false);
    this.#noteAnchor();
  }

  /**
   * The last block is complete and has its full height. A reader who follows sees its beginning, and reads on from there;
   * with full height they have read it already.
   */
  finished(block) {
    if (!this.#following || fullHeight.isOn || !block.isConnected) return;
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const place = scrollTop + block.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top - ABOVE_ANSWER;
    if (place >= scrollHeight - clientHeight - NEAR_END) return;
    this.#held = block;
    this.#set(false);
    this.#scroller.scrollTop = this.#lastTop = Math.max(0, place);
    this.#noteAnchor();
  }

  /** A card is answered: a reader who was shown its beginning follows again. */
  answered(card) {
    if (this.#held === card) this.follow();
  }

  /** The next turn begins: a reader who was shown the last answer follows again. */
  goOn() {
    if (this.#held?.isConnected) this.follow();
  }

  /** Where the reader was is where they are, whatever has changed; at the end that is the end. */
  #keepPlace() {
    const before = this.#scroller.scrollTop;
    if (this.#following) this.#toEnd();
    else this.#stay();
    if (this.#opens) {
      this.#opens = false;
      this.#set(this.#isAtEnd);
    }
    holdMovedCards(this.#scroller, this.#scroller.scrollTop - before);
  }

  #letOpen(element) {
    if (!this.#following) return;
    this.#held = null;
    this.#opens = true;
    this.#set(false);
    const { top } = this.#scroller.getBoundingClientRect();
    const block = element.closest(".transcript-page > *") ?? element;
    this.#anchor = { element: block, top: block.getBoundingClientRect().top - top };
  }

  get #isAtEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_END;
  }

  #toEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    const card = this.#cutCard();
    if (card) this.#showFrom(card);
    this.#lastTop = this.#scroller.scrollTop;
  }

  /** An open card that does not fit into the view, and whose beginning the reader has not seen. */
  #cutCard() {
    const { top, bottom } = this.#scroller.getBoundingClientRect();
    const cards = [...this.#scroller.getElementsByClassName("request-block waiting")].filter((card) => !this.#begun.has(card));
    return cards.find((card) => {
      const place = card.getBoundingClientRect();
      return place.top < top && place.bottom > top && place.height > bottom - top;
    });
  }

  /** Nobody is to see what allows something before what it allows. The reader goes on from there. */
  #showFrom(card) {
    this.#begun.add(card);
    this.#held = card;
    this.#set(false);
    this.#scroller.scrollTop += card.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top - ABOVE_ANSWER;
    this.#noteAnchor();
  }

  #scrolled() {
    const { scrollTop, clientHeight } = this.#scroller;
    // Only the reader scrolls up; growing content does not change the position.
    if (this.#isAtEnd) this.#set(true);
    else if (scrollTop < this.#lastTop - 1) this.#set(false);
    if (this.#held && scrollTop + clientHeight < this.#held.offsetTop) this.#held = null;
    this.#lastTop = scrollTop;
    if (!this.#following) this.#noteAnchor();
  }

  #noteAnchor() {
    const { left, top, width } = this.#scroller.getBoundingClientRect();
    const element = this.#nextToAnchor(top) ?? this.#blockAt(left + width / 2, top);
    this.#anchor = element && { element, top: element.getBoundingClientRect().top - top };
  }

  /** The block at the top of the view, if it is near the last anchor. Faster than a hit test. */
  #nextToAnchor(top) {
    let element = this.#anchor?.element;
    if (!element?.isConnected) return null;
    const isAbove = (one) => one.getBoundingClientRect().bottom <= top + LOOK_AT[0];
    for (let steps = 0; element && isAbove(element); steps += 1) element = steps < NEAR_ANCHOR ? element.nextElementSibling : null;
    for (let steps = 0; element?.previousElementSibling && !isAbove(element.previousElementSibling); steps += 1) element = steps < NEAR_ANCHOR ? element.previousElementSibling : null;
    return element && element.getBoundingClientRect().top <= top + LOOK_AT.at(-1) ? element : null;
  }

  #blockAt(middle, top) {
    for (const below of LOOK_AT) {
      const element = document.elementFromPoint(middle, top + below)?.closest(".transcript-page > *");
      if (element && this.#scroller.contains(element)) return element;
    }
    return null;
  }

  /** What is at the top of the view stays there. */
  #stay() {
    if (!this.#anchor?.element.isConnected) return;
    const { top } = this.#scroller.getBoundingClientRect();
    const moved = this.#anchor.element.getBoundingClientRect().top - top - this.#anchor.top;
    if (Math.abs(moved) < 1) return;
    this.#scroller.scrollTop += moved;
    this.#lastTop = this.#scroller.scrollTop;
  }

  #set(following) {
    if (this.#following === following) return;
    this.#following = following;
    if (following) this.#held = null;
    this.onChange(following);
  }
}

/** The button that jumps to the end after the reader scrolled up. */
export class ToEndButton {
  #renderer;
  #part;
  #button = byId("to-end-button");
  /** How many blocks had begun when the reader stopped following. */
  #seen = 0;
  /** What the button says. */
  #shown = null;

  constructor(renderer, part, signal) {
    this.#renderer = renderer;
    this.#part = part;
    renderer.follow.onChange = (following) => {
      if (!following) this.#seen = renderer.blocksBegun;
      this.show();
    };
    part.addEventListener("scroll", () => this.show(), { passive: true, signal });
    this.#button.addEventListener("click", () => this.#go(), { signal });
    signal.addEventListener("abort", () => {
      this.#button.hidden = true;
    });
    this.#button.hidden = true;
  }

  /** Something was added, or the reader moved. */
  show() {
    this.#button.hidden = this.#renderer.follow.isFollowing;
    if (this.#button.hidden) return;
    const waiting = this.#renderer.openRequests.at(0);
    const below = waiting && waiting.divElement.getBoundingClientRect().top > this.#part.getBoundingClientRect().bottom;
    const more = this.#renderer.blocksBegun - this.#seen;
    const words = below ? "Needs your input" : "Jump to the end";
    // Called for every scroll, so nothing is touched that stays the same.
    const state = `${words} ${more}`;
    if (this.#shown === state) return;
    this.#shown = state;
    this.#button.classList.toggle("waiting", Boolean(below));
    const label = make("span", { class: below ? "" : "visually-hidden", text: words });
    const count = more > 0 && !below ? make("span", { class: "to-end-count", "aria-label": `${more} new`, text: more > 99 ? "99+" : String(more) }) : null;
    this.#button.replaceChildren(icon("down"), label, ...(count ? [count] : []));
  }

  #go() {
    this.#renderer.follow.follow();
    this.#part.focus({ preventScroll: true });
  }
}
