// Earlier prompts, brought back with the arrow keys.

export class PromptHistory {
  #prompts = [];
  /** Where in the history the box is; the length stands for what is being written. */
  #position = 0;
  #unsent = "";

  add(text) {
    if (!text.trim() || this.#prompts.at(-1) === text) return;
    this.#prompts.push(text);
    this.#position = this.#prompts.length;
  }

  /** Prompts from before those that are known, oldest first. */
  addOlder(texts) {
    this.#prompts.unshift(...texts);
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

  /** Something was typed: what is in the box is the newest again. */
  leave() {
    this.#position = this.#prompts.length;
  }

  #go(direction, textarea) {
    const next = this.#position + direction;
    if (next < 0 || next > this.#prompts.length) return false;
    if (this.#position === this.#prompts.length) this.#unsent = textarea.value;
    this.#position = next;
    textarea.value = next === this.#prompts.length ? this.#unsent : this.#prompts[next];
    const end = direction < 0 ? 0 : textarea.value.length;
    textarea.setSelectionRange(end, end);
    return true;
  }
}
