// What was written and not sent, where a session is gone: it can be copied, written on, and used for a new session.

import { goTo, setupAddress } from "../lib/address.js";
import { copyFromButton } from "../lib/clipboard.js";
import { byId, make } from "../lib/dom.js";
import { keepDraft, showDraftNote } from "../lib/drafts.js";
import { icon } from "../lib/icons.js";
import { addToPromptBox } from "../setup/promptBox.js";

export class UnsentText {
  element;
  #area;

  /** `folder` is where the session worked, if that is known. */
  constructor(sessionId, text, folder) {
    this.#area = make("textarea", { id: "unsent-text", rows: "3", "aria-describedby": "unsent-text-note" });
    this.#area.value = text;
    // The draft stays, so that a reload shows it again.
    const note = make("p", { id: "unsent-text-note", class: "field-hint draft-note", role: "status", hidden: true });
    this.#area.addEventListener("input", () => {
      keepDraft(sessionId, this.#area.value);
      showDraftNote(note, sessionId);
    });
    showDraftNote(note, sessionId);
    const copy = make("button", { type: "button" }, icon("copy"), "Copy");
    copy.addEventListener("click", () => copyFromButton(copy, this.#area.value));
    const start = make("button", { type: "button", text: "Start a new session with it" });
    start.addEventListener("click", () => {
      addToPromptBox(this.#area.value, folder);
      keepDraft(sessionId, null);
      goTo(setupAddress());
      byId("prompt-box").focus();
    });
    this.element = make("div", { class: "unsent-text" }, make("label", { for: "unsent-text", text: "Your unsent text" }), this.#area, note, make("div", { class: "unsent-text-actions" }, copy, start));
  }

  /** Takes over from the box in which it was being written. */
  takeFocus({ selectionStart, selectionEnd }) {
    this.#area.focus({ preventScroll: true });
    this.#area.setSelectionRange(selectionStart, selectionEnd);
  }
}
