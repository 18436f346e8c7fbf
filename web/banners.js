// What concerns the whole session stands above it until it is over or put away.

import { byId, make, prose } from "./dom.js";
import { icon } from "./icons.js";

export class Banners {
  #container = byId("banners");
  #shown = new Map();
  #putAway = new Set();

  constructor() {
    this.clear();
  }

  /**
   * Shows or changes a banner. `tone` is "info", "waiting" or "failed"; `actions` are `{ label, run }` or `{ label, href }`;
   * one that may be put away stays away.
   */
  show(name, { tone = "info", text, actions = [], dismissible = false }) {
    if (this.#putAway.has(name)) return;
    const banner = make("div", { class: `banner banner-${tone}`, role: tone === "info" ? "status" : "alert", data: { banner: name } });
    const controls = actions.map(({ label, run, href }) =>
      href ? make("a", { class: "button", href, text: label }) : make("button", { type: "button", text: label, on: { click: run } }),
    );
    if (dismissible) {
      const dismiss = () => {
        this.#putAway.add(name);
        this.hide(name);
      };
      controls.push(make("button", { type: "button", class: "quiet-button icon-button", "aria-label": "Put away", title: "Put away", on: { click: dismiss } }, icon("close")));
    }
    banner.append(make("span", { class: "banner-text" }, ...(typeof text === "string" ? prose(text) : [text])), ...controls);
    this.#shown.get(name)?.remove();
    this.#shown.set(name, banner);
    this.#container.append(banner);
  }

  /** Changes the words of a banner without making a screen reader read it again. */
  setText(name, text) {
    const shown = this.#shown.get(name)?.querySelector(".banner-text");
    if (shown && shown.textContent !== text.replaceAll("`", "")) shown.replaceChildren(...prose(text));
  }

  has(name) {
    return this.#shown.has(name);
  }

  hide(name) {
    this.#shown.get(name)?.remove();
    this.#shown.delete(name);
  }

  clear() {
    this.#container.replaceChildren();
    this.#shown.clear();
  }
}
