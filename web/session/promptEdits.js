// What became of queued prompts: changed, cancelled, begun. The events that say so may be on another page of the
// transcript than the prompt, so they are remembered.

import { promptOfTurn } from "../composer/queue.js";

export class PromptEdits {
  #changed = new Map();
  #cancelled = new Set();
  #begun = new Set();

  /** Takes an event of the log, in any order. */
  note(seq, { callback, promptId, text, turnId }) {
    if (callback === "onPromptChanged" && seq >= (this.#changed.get(promptId)?.seq ?? 0)) this.#changed.set(promptId, { seq, text });
    else if (callback === "onPromptCancelled") this.#cancelled.add(promptId);
    else if (callback === "onAgentStart" && promptOfTurn(turnId)) this.#begun.add(promptOfTurn(turnId));
  }

  /** `{ text, seq, isCancelled, hasBegun }` of a prompt; its text and event are those of the last change, if there was one. */
  of(promptId, text, seq) {
    return { text, seq, ...this.#changed.get(promptId), isCancelled: this.#cancelled.has(promptId), hasBegun: this.#begun.has(promptId) };
  }
}
