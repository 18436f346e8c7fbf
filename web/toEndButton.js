// The way back to the end, for a reader who went up.

import { byId } from "./dom.js";

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
    this.#button.textContent = below ? "A request waits for you" : "To the end";
    this.#button.classList.toggle("waiting", Boolean(below));
  }

  #go() {
    this.#renderer.follow.follow();
    this.#part.focus({ preventScroll: true });
  }
}
