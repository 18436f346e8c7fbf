// Earlier prompts, brought back with the arrow keys. What is written into one of them, and what was being written before, stays
// reachable with the same keys until something is sent.

import { replaceText } from "./replaceText.js";

export class PromptHistory {
  /** Oldest first: `{ text, edited }`; `edited` is what the person has made of it, null if nothing. */
  #prompts = [];
  /** Where in the history the box is; the length stands for what is being written. */
  #position = 0;
  #unsent = "";
  #isFilling = false;

  /** Whether the box is being filled from here, not by typing. */
  get isFilling() {
    return this.#isFilling;
  }

  /** Whether the box has what is being written, not an earlier prompt. */
  get isAtEnd() {
    return this.#position === this.#prompts.length;
  }

  add(text) {
    if (!text.trim() || this.#prompts.at(-1)?.text === text) return;
    const { isAtEnd } = this;
    this.#prompts.push({ text, edited: null });
    if (isAtEnd) this.#position = this.#prompts.length;
  }

  /** Prompts from before those that are known, oldest first. */
  addOlder(texts) {
    this.#prompts.unshift(...texts.map((text) => ({ text, edited: null })));
    this.#position += texts.length;
  }

  /** Handles the arrow keys at the edges of the text. Returns whether it did. */
  handleKey(event, textarea) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return false;
    const { selectionStart, selectionEnd, value } = textarea;
    if (selectionStart !== selectionEnd) return false;
    if (event.key === "ArrowUp" && !value.slice(0, selectionStart).includes("\n")) return this.#go(-1, textarea);
    if (event.key === "ArrowDown" && !value.slice(selectionEnd).includes("\n")) return this.#go(1, textarea);
    return false;
  }

  /** The text was sent: what is written next is the newest, and every prompt is again as it was sent. */
  sent() {
    for (const prompt of this.#prompts) prompt.edited = null;
    this.#unsent = "";
    this.#position = this.#prompts.length;
  }

  #go(direction, textarea) {
    const next = this.#position + direction;
    if (next < 0 || next > this.#prompts.length) return false;
    if (this.isAtEnd) this.#unsent = textarea.value;
    else this.#prompts[this.#position].edited = textarea.value;
    this.#position = next;
    const prompt = this.#prompts[next];
    this.#fill(textarea, prompt ? (prompt.edited ?? prompt.text) : this.#unsent);
    const end = direction < 0 ? 0 : textarea.value.length;
    textarea.setSelectionRange(end, end);
    return true;
  }

  #fill(textarea, text) {
    this.#isFilling = true;
    replaceText(textarea, text);
    this.#isFilling = false;
  }
}
