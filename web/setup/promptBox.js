// What a new session is to do. The text survives a reload, until it is sent.

import { byId, setText } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { keepDraft, readDraft, showDraftNote } from "../lib/drafts.js";

const area = byId("prompt-box");
const DRAFT = "(new session)";
/** Text is written down once nobody types any more. */
const PAUSE_MS = 300;

/** Puts a text behind what the box has; with `folder`, the session is to work there. The box may not have been shown yet. */
export function addToPromptBox(text, folder = null) {
  const before = (area.value || readDraft(DRAFT)).trimEnd();
  const isNew = !before.endsWith(text.trimEnd());
  area.value = [before, isNew && text].filter(Boolean).join("\n\n");
  keepText();
  if (!folder) return;
  const input = byId("working-dir");
  input.value = folder;
  input.dispatchEvent(new Event("input"));
}

/** Names the files of the session that the person comes from, which do not come along, until the home page is left. */
export function sayFilesStay(files) {
  if (files.length === 0) return;
  const note = byId("prompt-files-note");
  setText(note, `A new session starts without files. What you attached stays with the session that you left: ${files.map(({ name }) => exactString(name || "pasted")).join(", ")}.`);
  addEventListener("popstate", () => setText(note, ""), { once: true });
}

function keepText() {
  keepDraft(DRAFT, area.value);
  showDraftNote(byId("prompt-draft-note"), DRAFT);
}

export class PromptBox {
  /** While it runs, something was typed that is not kept yet. */
  #timer = null;
  /** Called for Ctrl+Enter. */
  onStart = () => {};

  constructor() {
    if (!area.value) area.value = readDraft(DRAFT);
    area.addEventListener("input", () => this.#changed());
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      this.onStart();
    });
    // Another tab may have kept something else since then, or sent what both had.
    addEventListener("pagehide", () => this.#timer !== null && this.#keep());
  }

  get text() {
    return area.value;
  }

  /** A prompt was sent: what was typed behind it meanwhile stays, and so does a text that no longer begins with it. */
  removeSent(text) {
    if (area.value.startsWith(text)) area.value = area.value.slice(text.length);
    this.#keep();
  }

  #changed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#keep(), PAUSE_MS);
  }

  #keep() {
    clearTimeout(this.#timer);
    this.#timer = null;
    keepText();
  }
}
