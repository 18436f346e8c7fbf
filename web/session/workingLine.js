// The line at the end of a session while its agent works: for how long, or that it needs the person's input.

import { make } from "../lib/dom.js";

const TICK = 1000;
/** After so long without anything from the agent, that is said too: it may be waiting for its model. */
const SILENT_AFTER = 5000;

export class WorkingLine {
  element = make("div", { class: "session-response-awaiting" });
  #since = null;
  #isWaiting;
  #timer = null;
  /** When the agent was last heard of. */
  #heard = Date.now();

  /** `isWaiting()` returns whether a request is open. */
  constructor(isWaiting) {
    this.#isWaiting = isWaiting;
    this.element.style.display = "none";
  }

  /** `since` is when the work began, if that is known. */
  show(since) {
    this.#since ??= since;
    this.#heard = Date.now();
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

  /** Something came from the agent. */
  heard() {
    this.#heard = Date.now();
    this.update();
  }

  update() {
    const text = this.#isWaiting() ? "Waiting for you" : ["Working", this.#since === null ? null : timeSince(this.#since), this.#silence()].filter(Boolean).join(" · ");
    if (this.element.textContent !== text) this.element.textContent = text;
  }

  #silence() {
    return Date.now() - this.#heard > SILENT_AFTER ? `no output for ${timeSince(this.#heard)}` : null;
  }
}

function timeSince(moment) {
  const seconds = Math.max(0, Math.floor((Date.now() - moment) / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
