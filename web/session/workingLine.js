// The line at the end of a session while its agent works: for how long, or that it needs the person's input.

import { make } from "../lib/dom.js";

const TICK = 1000;

export class WorkingLine {
  element = make("div", { class: "session-response-awaiting" });
  #since = null;
  #isWaiting;
  #timer = null;

  /** `isWaiting()` returns whether a request is open. */
  constructor(isWaiting) {
    this.#isWaiting = isWaiting;
    this.element.style.display = "none";
  }

  /** `since` is when the work began, if that is known. */
  show(since) {
    this.#since ??= since;
    this.element.style.display = "block";
    this.update();
    this.#timer ??= setInterval(() => this.update(), TICK);
  }

  hide() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.#since = null;
    this.element.style.display = "none";
  }

  update() {
    this.element.textContent = this.#isWaiting() ? "Waiting for you" : ["Working", this.#time()].filter(Boolean).join(" · ");
  }

  #time() {
    if (this.#since === null) return null;
    const seconds = Math.max(0, Math.floor((Date.now() - this.#since) / 1000));
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }
}
