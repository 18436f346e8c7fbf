// What a job waits for, as cards above the details: gates, and works that were interrupted.

import { announce } from "../lib/announcer.js";
import { exactString } from "../lib/exactText.js";
import { holdMovedCards } from "../session/openCards.js";
import { WaitingCard } from "./waitingCard.js";

export class WaitingCards {
  /** `answer(action, json)` sends an answer; it rejects with a `Problem`. */
  answer = async () => {};
  /** Called after an answer was accepted, or was no longer possible. */
  onAnswered = async () => {};
  /** Called with the problem when somebody else was faster. */
  onClosed = () => {};
  /** Loads the rendered prompt of a gate. */
  loadPrompt = async () => "";
  #place;
  #cards = new Map();

  constructor(place) {
    this.#place = place;
    // Their prompts are rendered one after the other.
    new ResizeObserver(() => holdMovedCards(place)).observe(place);
  }

  /** The cards that can be answered, oldest first. */
  get cards() {
    return [...this.#cards.values()];
  }

  /** Shows what waits now. A card that says the same as before is left alone. */
  show(waiting, { folder }) {
    const ids = new Set(waiting.map(({ waitingId }) => waitingId));
    const over = [...this.#cards].filter(([id]) => !ids.has(id));
    for (const [id, card] of over) {
      card.remove();
      this.#cards.delete(id);
    }
    // The next one takes the place under the pointer that has just pressed a button.
    if (over.length > 0) for (const card of this.cards) card.hold();
    for (const one of waiting) {
      const before = this.#cards.get(one.waitingId);
      if (before?.request.digest === one.digest) continue;
      const card = new WaitingCard(one, { folder, answer: (_, { action, json }) => this.#send(one, action, json) }, { before });
      if (before) before.divElement.replaceWith(card.divElement);
      else {
        this.#place.append(card.divElement);
        announce(`Needs your input: ${exactString(one.title)}`);
      }
      this.#cards.set(one.waitingId, card);
      if (card.wantsRendering) card.renderWith(() => this.loadPrompt(one.waitingId));
    }
    this.#place.hidden = this.#cards.size === 0;
    holdMovedCards(this.#place);
  }

  async #send({ waitingId, digest, title }, action, json) {
    try {
      await this.answer(action, { waitingId, digest, ...json });
      announce(`${action === "approve" ? "Approved" : "Rejected"}: ${exactString(title)}`);
    } catch (problem) {
      if (problem.code === "GateClosed") this.onClosed(problem);
      else if (problem.code !== "GateChanged") throw problem;
    }
    await this.onAnswered();
    // The same again means that the details are older than the answer; then the card can be used again.
    const card = this.#cards.get(waitingId);
    if (card?.request.digest === digest) card.unlock();
  }
}
