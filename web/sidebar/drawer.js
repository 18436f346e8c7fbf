// The sidebar on a narrow window: a drawer over the page.

import { make } from "../lib/dom.js";

const root = document.documentElement;

export class Drawer {
  /** Called when it is opened or closed. */
  onChange = () => {};
  #element;
  #backdrop = make("div", { id: "sidebar-backdrop" });

  constructor(element) {
    this.#element = element;
    element.after(this.#backdrop);
    this.#backdrop.addEventListener("click", () => this.set(false));
    document.addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape" || !this.isOpen || document.querySelector("dialog[open]")) return;
        event.preventDefault();
        this.set(false);
      },
      true,
    );
  }

  get isOpen() {
    return root.dataset.drawer === "open";
  }

  set(open) {
    if (open === this.isOpen) return;
    const hadFocus = this.#element.contains(document.activeElement);
    if (open) root.dataset.drawer = "open";
    else {
      delete root.dataset.drawer;
      // What is out of sight must not keep the focus.
      if (hadFocus) document.activeElement.blur();
    }
    this.onChange();
  }
}
