// The sidebar on a narrow window: a drawer over the page, above the request part.

import { make } from "../lib/dom.js";

const root = document.documentElement;

export class Drawer {
  /** Called when it is opened or closed. */
  onChange = () => {};
  #element;
  #backdrop = make("div", { id: "sidebar-backdrop" });
  /** The place of the request part may change: the keyboard comes and goes. */
  #observer = new ResizeObserver(() => this.#leaveRoom());

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
    if (open) {
      root.dataset.drawer = "open";
      for (const watched of [document.body, requestPart()].filter(Boolean)) this.#observer.observe(watched);
      this.#leaveRoom();
    } else {
      delete root.dataset.drawer;
      this.#observer.disconnect();
      // What is out of sight must not keep the focus.
      if (hadFocus) document.activeElement.blur();
    }
    this.onChange();
  }

  /** What a person has written stays in sight. */
  #leaveRoom() {
    const part = requestPart();
    const room = part?.checkVisibility() ? Math.max(0, innerHeight - part.getBoundingClientRect().top) : 0;
    root.style.setProperty("--drawer-bottom", `${Math.round(room)}px`);
  }
}

function requestPart() {
  return document.getElementById("request-part");
}
