// Plain text of any length: while it arrives only its end is in the document, afterwards it is cut into pieces that the
// browser lays out when they come into view.

import { make } from "../lib/dom.js";
import { plural } from "../lib/format.js";

/** What a box of 150 pixels can show is far less than this. */
const LONGEST_TAIL = 48 * 1024;
const NODE_LENGTH = 8 * 1024;
const PIECE_LENGTH = 16 * 1024;
/** A longer text is shown in part until the reader asks for all of it. */
const LONGEST_AT_ONCE = 256 * 1024;

/** The end of a text that is still arriving. */
export class TextTail {
  #element;
  #shown = 0;
  #left = 0;
  #note = null;

  constructor(element) {
    this.#element = element;
  }

  append(text) {
    const piece = text.length > LONGEST_TAIL ? text.slice(-LONGEST_TAIL) : text;
    this.#left += text.length - piece.length;
    const last = this.#element.lastChild;
    if (last instanceof Text && last.length < NODE_LENGTH) last.appendData(piece);
    else this.#element.append(piece);
    this.#shown += piece.length;
    while (this.#shown > LONGEST_TAIL) this.#dropFirst();
  }

  /** The first `quiet` characters are in the document, but cannot be seen. */
  replace(text, quiet = 0) {
    this.#element.replaceChildren();
    this.#note = null;
    this.#shown = 0;
    this.#left = 0;
    if (quiet > 0) this.#element.append(make("span", { class: "quiet-text", text: text.slice(0, Math.min(quiet, LONGEST_TAIL)) }));
    this.append(text.slice(quiet));
  }

  #dropFirst() {
    const first = [...this.#element.childNodes].find((node) => node instanceof Text);
    if (first.length >= this.#shown) first.data = first.data.slice(-LONGEST_TAIL);
    else first.remove();
    const left = this.#shown - [...this.#element.childNodes].reduce((sum, node) => sum + (node instanceof Text ? node.length : 0), 0);
    this.#shown -= left;
    this.#left += left;
    if (!this.#note) {
      this.#note = make("span", { class: "text-left-out" });
      this.#element.prepend(this.#note);
    }
    this.#note.textContent = `${plural(this.#left, "character")} above; the full text is shown when it is complete\n`;
  }
}

/** Fills an element with a finished text. */
export function showText(element, text) {
  if (text.length <= LONGEST_AT_ONCE) {
    fill(element, text);
    return;
  }
  const button = make("button", { type: "button", class: "show-all-text", text: `Show all ${plural(text.length, "character")}` });
  button.addEventListener("click", () => fill(element, text));
  fill(element, text.slice(0, LONGEST_AT_ONCE));
  element.append(button);
}

function fill(element, text) {
  if (text.length <= PIECE_LENGTH) {
    element.textContent = text;
    return;
  }
  const pieces = [];
  for (let from = 0; from < text.length; ) {
    const piece = text.slice(from, from + PIECE_LENGTH);
    const lineEnd = piece.lastIndexOf("\n");
    const whole = from + PIECE_LENGTH >= text.length || lineEnd < 0 ? piece : piece.slice(0, lineEnd + 1);
    // The line end that separates two pieces is the border between their boxes; it stays in the text for copying.
    pieces.push(make("span", { class: "text-piece", text: whole }));
    from += whole.length;
  }
  element.replaceChildren(...pieces);
}
