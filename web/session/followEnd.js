// Keeps the end in view while something arrives, and stops when the reader scrolls up.

import { byId } from "../lib/dom.js";

const NEAR_END = 24;

export class FollowEnd {
  #scroller;
  #following = true;
  #lastTop = 0;
  #observer;

  /** Called when following begins or ends. */
  onChange = () => {};

  constructor(scroller) {
    this.#scroller = scroller;
    // Called after layout and before paint, once for whatever happened in between: nothing flickers, nothing is measured twice.
    this.#observer = new ResizeObserver(() => this.#following && this.#toEnd());
    this.#observer.observe(scroller);
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
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
    this.#set(true);
    this.#toEnd();
  }

  /** Stays where the reader is. */
  stop() {
    this.#set(false);
  }

  #toEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#lastTop = this.#scroller.scrollTop;
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR_END;
    // Only the reader scrolls up; growing content does not change the position.
    if (atEnd) this.#set(true);
    else if (scrollTop < this.#lastTop - 1) this.#set(false);
    this.#lastTop = scrollTop;
  }

  #set(following) {
    if (this.#following === following) return;
    this.#following = following;
    this.onChange(following);
  }
}

/** The button that jumps to the end after the reader scrolled up. */
export class ToEndButton {
  #renderer;
  #part;
  #button = byId("to-end-button");

  constructor(renderer, part, signal) {
    this.#renderer = renderer;
    this.#part = part;
    renderer.follow.onChange = () => this.show();
    part.addEventListener("scroll", () => this.show(), { passive: true, signal });
    this.#button.addEventListener("click", () => this.#go(), { signal });
    signal.addEventListener("abort", () => {
      this.#button.hidden = true;
    });
    this.#button.hidden = true;
  }

  /** Something was added, or the reader moved. */
  show() {
    const waiting = this.#renderer.openRequests.at(0);
    const below = waiting && waiting.divElement.getBoundingClientRect().top > this.#part.getBoundingClientRect().bottom;
    this.#button.hidden = this.#renderer.follow.isFollowing;
    this.#button.textContent = below ? "Needs your input" : "Jump to the end";
    this.#button.classList.toggle("waiting", Boolean(below));
  }

  #go() {
    this.#renderer.follow.follow();
    this.#part.focus({ preventScroll: true });
  }
}
