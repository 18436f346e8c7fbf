// One block of a transcript: a prompt, a message, reasoning or a tool call.

import { make } from "./lib/dom.js";
import { exactNodes, exactString } from "./lib/exactText.js";
import { duration, exactTime } from "./lib/format.js";
import { icon } from "./lib/icons.js";
import { TextTail, showText } from "./session/plainText.js";
import { forget, onRenderedClick, parseRendered, scheduleLoad, whenNear } from "./session/renderedContent.js";

const FIELD = "__copilotMessageBlock";
const OPEN_WHEN_COMPLETED = new Set(["User", "Message"]);
/** A closed block keeps this much of its text in the document, where the browser's search finds it. */
const SEARCHABLE_WHEN_CLOSED = 16 * 1024;

let blocksMade = 0;

/** The block that an element belongs to. */
export function getMessageBlock(div) {
  return div?.[FIELD];
}

export class MessageBlock {
  #type;
  #title = "";
  #data = "";
  #completed = false;
  #open = true;
  #source = null;
  #raw = false;
  /** What the body shows: "tail", "text", "rendered" or "nothing". */
  #shown = "tail";
  #parts;
  #tail;
  #followsEnd = true;

  /** `blockType` is "User", "Reasoning", "Tool" or "Message". */
  constructor(blockType) {
    this.#type = blockType;
    blocksMade += 1;
    this.#parts = this.#build(`block-${blocksMade}`);
    this.#tail = new TextTail(this.#parts.content);
    this.divElement[FIELD] = this;
    this.#showHeader();
  }

  get divElement() {
    return this.#parts.div;
  }

  get blockType() {
    return this.#type;
  }

  get isCompleted() {
    return this.#completed;
  }

  get title() {
    return this.#title;
  }

  set title(text) {
    this.#title = text ?? "";
    this.#showHeader();
  }

  /** All text so far. */
  get data() {
    return this.#data;
  }

  appendData(text) {
    this.#data += text;
    if (this.#completed) this.#showBody();
    else {
      this.#tail.append(text);
      this.#scrollToEnd();
    }
  }

  replaceData(text) {
    this.#data = text;
    if (this.#completed) this.#showBody();
    else {
      this.#tail.replace(text);
      this.#scrollToEnd();
    }
  }

  /** No more data comes. User and Message stay open, the others close. */
  complete() {
    if (this.#completed) return;
    this.#completed = true;
    const { div, body, toggle } = this.#parts;
    div.classList.replace("receiving", "completed");
    body.removeAttribute("tabindex");
    toggle.disabled = false;
    this.#showHeader();
    // The rendered form replaces the streamed text in one step.
    div.classList.toggle("rendering", this.#source !== null && OPEN_WHEN_COMPLETED.has(this.#type));
    this.#setOpen(OPEN_WHEN_COMPLETED.has(this.#type));
  }

  /** `load(all)` loads the rendered HTML. With `startRaw`, the raw text is shown first. */
  setSource(load, { startRaw = false, renderedName = "Markdown" } = {}) {
    this.#source = { load, renderedName };
    this.#raw = startRaw;
    this.#showTools();
    if (this.#completed) this.#showBody();
  }

  /** One line about what the block is for, beside its title. */
  setSummary(text) {
    this.#parts.summary.replaceChildren(...exactNodes(text, { oneLine: true }));
    this.#parts.summary.title = exactString(text);
  }

  /** How it ended, in a word or two; `kind` is "failed", "done" or nothing. */
  setOutcome(text, kind) {
    this.#parts.outcome.textContent = text ?? "";
    this.#parts.outcome.className = `message-block-outcome${kind ? ` outcome-${kind}` : ""}`;
  }

  /** The agent did not finish it, or began it again. */
  markIncomplete() {
    this.divElement.classList.add("incomplete");
    this.setOutcome("incomplete", "incomplete");
    this.#parts.outcome.title = "The agent did not finish this. It is not part of the answer.";
  }

  setTimes(started, ended) {
    const { time } = this.#parts;
    if (started && ended && this.#type !== "User") {
      time.textContent = duration(ended - started);
      time.title = `${exactTime(started)} – ${exactTime(ended)}`;
    } else if (started ?? ended) {
      time.textContent = "";
      time.title = exactTime(started ?? ended);
    }
  }

  /** A line in place of the duration, such as the time of day of a prompt. */
  setTimeText(text, title) {
    this.#parts.time.textContent = text;
    this.#parts.time.title = title;
  }

  toggle() {
    if (this.#completed) this.#setOpen(!this.#open);
  }

  /** Shows its content. */
  open() {
    if (this.#completed && !this.#open) this.#setOpen(true);
  }

  toggleRaw() {
    if (!this.#completed || !this.#source) return;
    if (!this.#open) this.#setOpen(true);
    this.#raw = !this.#raw;
    this.#showTools();
    this.#showBody({ now: true });
  }

  async copy() {
    const { copyFromButton } = await import("./lib/clipboard.js");
    await copyFromButton(this.#parts.copy, this.#data);
  }

  #build(id) {
    const toggle = make("button", { type: "button", class: "message-block-toggle", disabled: true, "aria-labelledby": `${id}-title` }, icon("chevron"));
    const headerText = make("span", { class: "message-block-header-text", id: `${id}-title` });
    const summary = make("span", { class: "message-block-summary" });
    const outcome = make("span", { class: "message-block-outcome" });
    const time = make("span", { class: "message-block-time" });
    const raw = make("button", { type: "button", class: "message-block-raw quiet-button", hidden: true });
    const copy = make("button", { type: "button", class: "message-block-copy quiet-button icon-button", "aria-label": "Copy text", title: "Copy text (c)" }, icon("copy"));
    const tools = make("span", { class: "message-block-tools" }, raw, copy);
    const header = make("div", { class: "message-block-header" }, toggle, headerText, summary, tools, outcome, time);
    const content = make("div", { class: "message-block-content message-block-text" });
    const body = make("div", { class: "message-block-body", id: `${id}-body`, tabindex: "0" }, content);
    toggle.setAttribute("aria-controls", body.id);
    const div = make("div", { class: "message-block receiving", role: "article", tabindex: "-1", "aria-labelledby": `${id}-title`, data: { type: this.#type } }, header, body);

    header.addEventListener("click", (event) => {
      const other = event.target.closest("button, a");
      const selecting = getSelection()?.toString() && header.contains(getSelection().anchorNode);
      if ((!other || other === toggle) && !selecting) this.toggle();
    });
    raw.addEventListener("click", () => this.toggleRaw());
    copy.addEventListener("click", () => this.copy());
    body.addEventListener("beforematch", () => this.#setOpen(true));
    body.addEventListener("scroll", () => {
      this.#followsEnd = body.scrollHeight - body.scrollTop - body.clientHeight < 8;
    });
    content.addEventListener("click", (event) => onRenderedClick(event, () => this.#render(true)));
    return { div, header, toggle, headerText, summary, outcome, time, raw, copy, body, content };
  }

  #showHeader() {
    const { headerText } = this.#parts;
    const parts = [make("span", { class: "message-block-kind", text: this.#type })];
    if (this.#title) parts.push(" ", make("span", { class: "message-block-title" }, "(", make("b", { text: this.#title }), ")"));
    if (!this.#completed) parts.push(" ", make("span", { class: "message-block-state", text: "[receiving...]" }));
    headerText.replaceChildren(...parts);
  }

  #showTools() {
    const { raw } = this.#parts;
    raw.hidden = !this.#source;
    raw.textContent = this.#raw ? (this.#source?.renderedName ?? "") : "Raw";
    raw.title = this.#raw ? "Show formatted text (r)" : "Show raw text (r)";
  }

  #setOpen(open) {
    this.#open = open;
    const { div, body, toggle } = this.#parts;
    div.classList.toggle("collapsed", !open);
    toggle.setAttribute("aria-expanded", String(open));
    if (open) body.removeAttribute("hidden");
    else body.setAttribute("hidden", "until-found");
    this.#showBody();
  }

  #scrollToEnd() {
    if (!this.#followsEnd) return;
    requestAnimationFrame(() => {
      const { body } = this.#parts;
      if (!this.#completed && this.#followsEnd) body.scrollTop = body.scrollHeight;
    });
  }

  #showBody({ now = false } = {}) {
    forget(this.divElement);
    if (!this.#open) {
      if (this.#shown !== "rendered") this.#showText(this.#data.slice(0, SEARCHABLE_WHEN_CLOSED));
    } else if (this.#raw || !this.#source) {
      this.divElement.classList.remove("rendering");
      this.#showText(this.#data);
    } else if (this.#shown !== "rendered") {
      if (!this.divElement.classList.contains("rendering")) this.#showText(this.#data);
      if (now) this.#render(false);
      else whenNear(this.divElement, () => this.#render(false));
    }
  }

  #showText(text) {
    const { content } = this.#parts;
    content.className = "message-block-content message-block-text";
    this.#shown = "text";
    showText(content, text);
  }

  async #render(all) {
    const { div, content } = this.#parts;
    try {
      const html = await scheduleLoad(() => this.#source.load(all));
      if (!this.#open || this.#raw) return;
      content.className = "message-block-content rendered-content";
      content.replaceChildren(parseRendered(html));
      this.#shown = "rendered";
    } catch {
      // The text is there in any case; the next press on "Markdown" tries again.
      this.#raw = true;
      this.#showTools();
      this.#showText(this.#data);
    } finally {
      div.classList.remove("rendering");
    }
  }
}
