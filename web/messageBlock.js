// One block of a transcript: a prompt, a message, reasoning or a tool call.

import { make } from "./lib/dom.js";
import { exactNodes, exactString } from "./lib/exactText.js";
import { duration, exactTime } from "./lib/format.js";
import { icon } from "./lib/icons.js";
import { relativeTime } from "./lib/relativeTime.js";
import { BoxEnd } from "./session/boxEnd.js";
import { OPENING } from "./session/opening.js";
import { TextTail, showText } from "./session/plainText.js";
import { forget, onRenderedClick, parseRendered, whenNear, whenThereIsTime } from "./session/renderedContent.js";
import { StreamingMarkdown } from "./session/streamingMarkdown.js";

const FIELD = "__copilotMessageBlock";
const OPEN_WHEN_COMPLETED = new Set(["User", "Message"]);
const WRITES_MARKDOWN = new Set(["Reasoning", "Message"]);
/** Shorter times say nothing. */
const WORTH_SAYING = 1000;
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
  #end;

  /** Called once, when the block is complete and looks as it will. */
  onFinished = null;

  /** `blockType` is "User", "Reasoning", "Tool" or "Message". */
  constructor(blockType) {
    this.#type = blockType;
    blocksMade += 1;
    this.#parts = this.#build(`block-${blocksMade}`);
    this.#tail = WRITES_MARKDOWN.has(blockType) ? new StreamingMarkdown(this.#parts.content) : new TextTail(this.#parts.content);
    this.#end = new BoxEnd(this.#parts.body);
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
      this.#end.added();
    }
  }

  /** Replaces all text. While the block receives, its first `quiet` characters cannot be seen. */
  replaceData(text, { quiet = 0 } = {}) {
    const isKnown = text === this.#data && quiet === 0;
    this.#data = text;
    if (this.#completed) this.#showBody();
    else if (!isKnown) {
      this.#tail.replace(text, quiet);
      this.#end.added();
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
    const opens = OPEN_WHEN_COMPLETED.has(this.#type);
    div.classList.toggle("rendering", this.#source !== null && opens && !this.#raw);
    this.#setOpen(opens);
    if (!div.classList.contains("rendering")) this.#finish();
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

  /** How long it took, if that is worth saying; the exact times are in its title. */
  setTimes(started, ended) {
    const { time } = this.#parts;
    const took = started && ended ? ended - started : 0;
    time.textContent = took >= WORTH_SAYING && this.#type !== "User" ? duration(took) : "";
    this.divElement.classList.toggle("timed", time.textContent !== "");
    if (started && ended) time.title = `${exactTime(started)} – ${exactTime(ended)}`;
    else if (started ?? ended) time.title = exactTime(started ?? ended);
  }

  /** When it was written, in place of how long it took. */
  setMoment(moment) {
    this.#parts.time.title = "";
    this.#parts.time.replaceChildren(relativeTime(moment));
  }

  /** Adds a button for something that can be done with the block. */
  addTool({ label, title, picture, className, run }) {
    const button = make("button", { type: "button", class: `${className} quiet-button icon-button`, "aria-label": label, title }, icon(picture));
    button.addEventListener("click", run);
    this.#parts.tools.prepend(button);
  }

  toggle() {
    if (!this.#completed) return;
    this.#tellOpening();
    this.#setOpen(!this.#open);
  }

  /** Shows its content. */
  open() {
    const fold = this.divElement.closest("details");
    if (fold) fold.open = true;
    if (this.#completed && !this.#open) this.#setOpen(true);
  }

  /** Shows its header only. */
  close() {
    if (this.#completed && this.#open) this.#setOpen(false);
  }

  toggleRaw() {
    if (!this.#completed || !this.#source) return;
    this.#tellOpening();
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
    content.addEventListener("click", (event) => onRenderedClick(event, () => this.#render(true)));
    return { div, header, toggle, headerText, summary, outcome, time, tools, raw, copy, body, content };
  }

  #showHeader() {
    const { headerText } = this.#parts;
    const parts = [make("span", { class: "message-block-kind", text: this.#type })];
    const bracket = (text) => make("span", { class: "message-block-bracket", text });
    if (this.#title) parts.push(" ", make("span", { class: "message-block-title" }, bracket("("), make("b", { text: this.#title }), bracket(")")));
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

  #showBody({ now = false } = {}) {
    forget(this.divElement);
    if (!this.#open) {
      if (this.#shown !== "rendered") this.#showText(this.#data.slice(0, SEARCHABLE_WHEN_CLOSED));
    } else if (this.#raw || !this.#source) {
      this.divElement.classList.remove("rendering");
      this.#showText(this.#data);
    } else if (this.#shown !== "rendered") {
      if (!this.divElement.classList.contains("rendering")) this.#showText(this.#data);
      if (now) this.#render(false, { now });
      else whenNear(this.divElement, () => this.#render(false));
    }
  }

  #tellOpening() {
    this.divElement.dispatchEvent(new Event(OPENING, { bubbles: true }));
  }

  #finish() {
    this.onFinished?.();
    this.onFinished = null;
  }

  #showText(text) {
    const { content } = this.#parts;
    content.className = "message-block-content message-block-text";
    this.#shown = "text";
    showText(content, text);
  }

  async #render(all, { now = all } = {}) {
    const { div, content } = this.#parts;
    try {
      const html = await this.#source.load(all, { now: now || div.classList.contains("rendering") });
      if (!now) await whenThereIsTime();
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
      this.#finish();
    }
  }
}
