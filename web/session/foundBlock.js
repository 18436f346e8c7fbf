// The block that somebody searched for: opened, in the middle of the view, and marked for a moment.

import { announce } from "../lib/announcer.js";

/** How long it is marked, and kept in the middle while what is around it is rendered. */
const MARKED_MS = 3000;
/** What says that the reader wants to be elsewhere. */
const READER_ACTS = ["wheel", "touchstart", "pointerdown", "keydown"];

export class FoundBlock {
  #div;
  #done = new AbortController();

  constructor(block, pages, signal) {
    this.#div = block.divElement;
    block.open?.();
    this.#div.hidden = false;
    this.#div.classList.add("found-block");
    this.#div.focus({ preventScroll: true });
    announce("Jumped to the search result");
    const observer = new ResizeObserver(() => this.#center());
    for (const { element } of pages) observer.observe(element);
    this.#done.signal.addEventListener("abort", () => observer.disconnect());
    for (const name of READER_ACTS) addEventListener(name, () => this.#done.abort(), { signal: this.#done.signal, passive: true });
    signal.addEventListener("abort", () => this.#done.abort(), { signal: this.#done.signal });
    setTimeout(() => {
      this.#done.abort();
      this.#div.classList.remove("found-block");
    }, MARKED_MS);
    this.#center();
  }

  #center() {
    this.#div.scrollIntoView({ block: "center", behavior: "instant" });
  }
}
