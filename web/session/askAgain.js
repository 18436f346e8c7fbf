// "Ask again" beside a turn that failed or was interrupted: sends that turn's own prompt again.

import { make } from "../lib/dom.js";
import { TurnPrompts } from "./turnPrompts.js";

export class AskAgain {
  #turns = new TurnPrompts();
  #ask;
  /** `{ seq, page, button, isRequest, label, promptId }`. */
  #places = new Set();
  #asked = new Set();

  /** `ask(promptId)` sends the prompt again and returns whether it was accepted; null where nothing can be sent. */
  constructor(ask) {
    this.#ask = ask;
  }

  /** Takes an event of the log; each once. */
  note(seq, response) {
    if (seq && this.#turns.note(seq, response)) this.#show();
  }

  /** What is known of the turn of an event. */
  turnOf(seq) {
    return this.#turns.turnOf(seq);
  }

  /**
   * The button for the turn of the event with that number; hidden while its prompt is unknown or the turn runs. A turn
   * whose request was kept is not lost: there only the request itself, once it is (`isRequest`), has the button. `label` is
   * "Ask again" or "Retry".
   */
  button(seq, page, { isRequest = false, label = "Ask again" } = {}) {
    if (!this.#ask || !seq) return null;
    const button = make("button", { type: "button", class: "ask-again", text: label, title: "Resend this turn's prompt, with its attachments", hidden: true });
    const place = { seq, page, button, isRequest, label };
    button.addEventListener("click", () => this.#press(place));
    this.#places.add(place);
    this.#show();
    return button;
  }

  /** The page was emptied. */
  forget(page) {
    for (const place of this.#places) if (place.page === page) this.#places.delete(place);
  }

  /** One button for each turn: beside the last line that says that it failed. */
  #show() {
    const last = new Map();
    for (const place of this.#places) {
      const { promptId, isOver, isKept } = this.#turns.turnOf(place.seq);
      place.promptId = isOver && (place.isRequest || !isKept) ? promptId : null;
      place.button.hidden = true;
      if (place.promptId && place.seq >= (last.get(place.promptId)?.seq ?? 0)) last.set(place.promptId, place);
    }
    for (const { button, promptId, label } of last.values()) {
      button.hidden = false;
      button.disabled = this.#asked.has(promptId);
      button.textContent = button.disabled ? "Asked again" : label;
    }
  }

  async #press({ button, promptId }) {
    button.disabled = true;
    if (await this.#ask(promptId)) this.#asked.add(promptId);
    this.#show();
  }
}
