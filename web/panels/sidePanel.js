// The panel at the side: one thing at a time, opened and closed by its button, closed by Escape.

import { byId, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";

const panel = byId("side-panel");
let current = null;

/**
 * A panel with a button in the top bar. `build(body)` fills it each time it is opened and may return what to call when
 * it is closed.
 */
export class SidePanel {
  #title;
  #build;
  #button;
  #wide;
  #cleanUp = null;
  /** What has the focus after it is closed, if that is still there. */
  #opener = null;

  constructor({ title, button, build, wide = false }) {
    this.#wide = wide;
    this.#title = title;
    this.#button = button ?? null;
    this.#build = build;
    this.#button?.addEventListener("click", () => this.toggle());
  }

  get isOpen() {
    return current === this;
  }

  toggle() {
    if (this.isOpen) this.close();
    else this.open();
  }

  /** `opener` has the focus again after it is closed; its button otherwise. */
  open({ opener = null } = {}) {
    if (current) current.close({ keepFocus: true });
    current = this;
    this.#opener = opener;
    const close = make("button", { type: "button", class: "quiet-button icon-button", "aria-label": "Close the panel", title: "Close (Escape)", on: { click: () => this.close() } }, icon("close"));
    const body = make("div", { class: "side-panel-body", tabindex: "0" });
    panel.replaceChildren(make("div", { class: "side-panel-head" }, make("h2", { id: "side-panel-title", text: this.#title }), close), body);
    panel.classList.toggle("wide", this.#wide);
    panel.hidden = false;
    this.#button?.setAttribute("aria-expanded", "true");
    this.#cleanUp = this.#build(body) ?? null;
    close.focus({ preventScroll: true });
  }

  close({ keepFocus = false } = {}) {
    if (!this.isOpen) return;
    this.#cleanUp?.();
    this.#cleanUp = null;
    current = null;
    const hadFocus = panel.contains(document.activeElement);
    panel.hidden = true;
    panel.replaceChildren();
    this.#button?.setAttribute("aria-expanded", "false");
    if (hadFocus && !keepFocus) (this.#opener?.isConnected ? this.#opener : this.#button)?.focus();
  }
}

export function closePanel() {
  current?.close();
}

// Wherever the focus is: a button of the panel may have been replaced, or the person writes beside it. Whoever has a use for
// Escape of their own (a dialog, a menu, a field that it empties) comes first.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || !current) return;
  if (document.querySelector("dialog[open], :popover-open") || event.target.closest?.("input[type=search]")?.value) return;
  event.preventDefault();
  closePanel();
});
