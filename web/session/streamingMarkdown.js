// Markdown while it arrives: formatted once a frame, and only its last block is read again. The end of a long text is in
// the document, and its nodes have the source as their text, whatever it looks like.

import { make } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { markdownBlocks } from "./markdownBlocks.js";
import { markdownElement } from "./markdownElements.js";

/** What is kept in the document of a text that still arrives. */
const LONGEST_TAIL = 40 * 1024;
/** So much waits for the next frame at most; a hidden tab has none. */
const MOST_UNREAD = 8 * 1024;

export class StreamingMarkdown {
  #element;
  /** What has come since the last frame. */
  #unread = document.createTextNode("");
  /** What may change when more comes: its source, its elements, and the block that it continues. */
  #open = { source: "", elements: [], continued: null };
  #lengths = new WeakMap();
  #shown = 0;
  #left = 0;
  #note = null;
  #frame = null;

  constructor(element) {
    this.#element = element;
    element.classList.add("streaming-markdown");
    element.append(this.#unread);
  }

  append(text) {
    this.#unread.appendData(text);
    if (this.#unread.length > MOST_UNREAD) this.#read();
    else this.#frame ??= requestAnimationFrame(() => this.#read());
  }

  replace(text) {
    cancelAnimationFrame(this.#frame);
    this.#frame = null;
    this.#unread.data = "";
    this.#open = { source: "", elements: [], continued: null };
    [this.#shown, this.#left, this.#note] = [0, 0, null];
    this.#element.replaceChildren(this.#unread);
    this.append(text);
  }

  /** Nothing more comes, and somebody else fills the element. */
  end() {
    cancelAnimationFrame(this.#frame);
    this.#element.classList.remove("streaming-markdown");
  }

  #read() {
    cancelAnimationFrame(this.#frame);
    this.#frame = null;
    let text = this.#open.source + this.#unread.data;
    if (text === "") return;
    this.#unread.data = "";
    for (const element of this.#open.elements) this.#forget(element);
    if (text.length > 2 * LONGEST_TAIL) text = this.#leaveOut(text, text.length - LONGEST_TAIL);
    const blocks = markdownBlocks(text, this.#open.continued);
    const elements = blocks.map((block, index) => this.#show(block, index === blocks.length - 1));
    // What a line means is known at its end: until then it may belong to the block before it.
    const first = Math.max(0, blocks.length - (blocks.at(-1).text.includes("\n") ? 1 : 2));
    const continued = blocks[first].isContinued ? (blocks[first - 1] ?? this.#open.continued) : null;
    const source = blocks.slice(first).map((block) => block.text).join("");
    this.#open = { source, elements: elements.slice(first), continued };
    while (this.#shown > LONGEST_TAIL && this.#dropFirst());
  }

  #show(block, isLast) {
    const element = markdownElement(block, isLast);
    this.#lengths.set(element, block.text.length);
    this.#shown += block.text.length;
    this.#unread.before(element);
    return element;
  }

  #forget(element) {
    this.#shown -= this.#lengths.get(element);
    element.remove();
  }

  /** Of a very long piece only the end is worth reading. */
  #leaveOut(text, length) {
    const lineEnd = text.indexOf("\n", length);
    const from = lineEnd < 0 || lineEnd > length + 4096 ? length : lineEnd + 1;
    this.#note ??= this.#makeNote();
    this.#count(from);
    return text.slice(from);
  }

  #dropFirst() {
    const first = this.#note ? this.#note.nextElementSibling : this.#element.firstElementChild;
    if (!first || this.#open.elements.includes(first)) return false;
    const length = this.#lengths.get(first);
    this.#forget(first);
    this.#note ??= this.#makeNote();
    this.#count(length);
    return true;
  }

  #makeNote() {
    const note = make("span", { class: "text-left-out" });
    this.#element.prepend(note);
    return note;
  }

  #count(length) {
    this.#left += length;
    this.#note.textContent = `${plural(this.#left, "character")} above; the full text is shown when it is complete\n`;
  }
}
