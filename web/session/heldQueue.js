// "Send queued prompts" beside the notice that they wait: the turn before them was cut off.

import { make } from "../lib/dom.js";

export class HeldQueue {
  #release;
  /** `{ seq, page, button }`. */
  #places = new Set();
  #lastStart = 0;

  /** `release()` sends the prompts and returns whether that was accepted; null where nothing can be sent. */
  constructor(release) {
    this.#release = release;
  }

  /** Takes an event of the log. Once a turn begins, the queue waits no more. */
  note(seq, { callback }) {
    if (callback !== "onAgentStart" || seq <= this.#lastStart) return;
    this.#lastStart = seq;
    this.#show();
  }

  button(seq, page) {
    if (!this.#release || !seq) return null;
    const button = make("button", { type: "button", class: "release-queue", text: "Send queued prompts", title: "Continue with the queued prompts, without the interrupted turn", hidden: true });
    button.addEventListener("click", () => this.#press(button));
    this.#places.add({ seq, page, button });
    this.#show();
    return button;
  }

  /** The page was emptied. */
  forget(page) {
    for (const place of this.#places) if (place.page === page) this.#places.delete(place);
  }

  #show() {
    const newest = Math.max(...[...this.#places].map(({ seq }) => seq));
    for (const { seq, button } of this.#places) button.hidden = seq < newest || seq <= this.#lastStart;
  }

  async #press(button) {
    button.disabled = true;
    button.disabled = await this.#release();
  }
}
