// Completes what is being typed: a list above the text, moved through with the arrow keys, while the focus stays in it.

import { announce } from "../lib/announcer.js";
import { byId, make } from "../lib/dom.js";
import { plural } from "../lib/format.js";

const PAUSE = 90;
const textarea = byId("request-textarea");
const box = byId("completion-list");

export class Completion {
  #sources;
  #left = new AbortController();
  #asked = null;
  #timer = 0;
  #match = null;
  #items = [];
  #selected = 0;
  /** What the person closed the list for stays without one until it changes. */
  #dismissed = null;

  /**
   * `sources` are `{ find(before) → { start, query } or null, items(query, signal) → { items, note }, label }`. An item is
   * `{ nodes, insert(before, after) → { text, selection } }`.
   */
  constructor(sources) {
    this.#sources = sources;
    const { signal } = this.#left;
    textarea.addEventListener("input", () => this.#look(), { signal });
    textarea.addEventListener("click", () => this.#look(), { signal });
    textarea.addEventListener("keyup", (event) => ["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key) && this.#look(), { signal });
    textarea.addEventListener("blur", () => this.close(), { signal });
    // The focus stays in the text.
    box.addEventListener("mousedown", (event) => event.preventDefault(), { signal });
    box.addEventListener("click", (event) => this.#click(event), { signal });
  }

  get isOpen() {
    return !box.hidden;
  }

  leave() {
    this.close();
    this.#left.abort();
  }

  close() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#asked = null;
    this.#match = null;
    this.#items = [];
    if (box.hidden) return;
    box.hidden = true;
    box.replaceChildren();
    textarea.removeAttribute("aria-activedescendant");
    textarea.removeAttribute("aria-controls");
  }

  /** Returns whether the key was for the list. */
  handleKey(event) {
    if (!this.isOpen || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
    if (event.key === "Escape") {
      this.#dismissed = this.#match && this.#keyOf(this.#match);
      this.close();
      return true;
    }
    if (this.#items.length === 0 || event.shiftKey) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      // Who chooses in the list chooses what it shows: an answer that comes now would restart it.
      clearTimeout(this.#timer);
      this.#asked?.abort();
      this.#select((this.#selected + step + this.#items.length) % this.#items.length);
      return true;
    }
    if (event.key !== "Enter" && event.key !== "Tab") return false;
    this.#accept(this.#items[this.#selected]);
    return true;
  }

  #look() {
    const { selectionStart, selectionEnd, value } = textarea;
    const before = value.slice(0, selectionStart);
    const match = selectionStart === selectionEnd ? this.#find(before) : null;
    if (!match) {
      this.#dismissed = null;
      this.close();
      return;
    }
    if (this.#dismissed !== null && this.#keyOf(match).startsWith(this.#dismissed)) return;
    this.#dismissed = null;
    clearTimeout(this.#timer);
    this.#match = match;
    this.#timer = setTimeout(() => this.#ask(match), this.isOpen ? PAUSE : 0);
  }

  #find(before) {
    for (const source of this.#sources) {
      const found = source.find(before);
      if (found) return { ...found, source };
    }
    return null;
  }

  /** Where the word is and what it says; more of the same word begins with it. */
  #keyOf({ source, start, query }) {
    return `${this.#sources.indexOf(source)}:${start}:${query}`;
  }

  async #ask(match) {
    this.#asked?.abort();
    const asked = new AbortController();
    this.#asked = asked;
    let found;
    try {
      found = await match.source.items(match.query, asked.signal);
    } catch (problem) {
      found = { items: [], note: problem.message };
    }
    if (asked.signal.aborted || this.#match !== match) return;
    this.#show(match, found);
  }

  #show({ source, query }, { items, note = null }) {
    this.#items = items;
    if (items.length === 0 && !note) {
      box.hidden = true;
      textarea.removeAttribute("aria-activedescendant");
      return;
    }
    const options = items.map(({ nodes }, index) => make("div", { class: "completion", id: `completion-${index}`, role: "option", "aria-selected": "false", data: { index: String(index) } }, ...nodes));
    const list = make("div", { id: "completion-options", role: "listbox", "aria-label": source.label }, ...options);
    box.replaceChildren(...(items.length > 0 ? [list] : []), ...(note ? [make("p", { class: "completion-note", text: note })] : []));
    box.hidden = false;
    if (items.length === 0) {
      textarea.removeAttribute("aria-activedescendant");
      announce(note);
      return;
    }
    textarea.setAttribute("aria-controls", "completion-options");
    this.#select(0);
    box.scrollTop = 0;
    announce(`${plural(items.length, "suggestion")}${query ? "" : ". Up and down to choose, Enter to insert"}`);
  }

  #select(index) {
    this.#selected = index;
    for (const option of box.querySelectorAll(".completion")) option.setAttribute("aria-selected", String(option.dataset.index === String(index)));
    const option = byId(`completion-${index}`);
    textarea.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  #click(event) {
    const index = event.target.closest(".completion")?.dataset.index;
    if (index !== undefined) this.#accept(this.#items[Number(index)]);
  }

  #accept(item) {
    const { start } = this.#match;
    const before = textarea.value.slice(0, start);
    const after = textarea.value.slice(textarea.selectionStart);
    const { text, selection } = item.insert(before, after);
    this.close();
    textarea.value = text;
    textarea.setSelectionRange(...selection);
    textarea.focus({ preventScroll: true });
    textarea.dispatchEvent(new Event("input", { bubbles: true }));
    this.close();
  }
}
