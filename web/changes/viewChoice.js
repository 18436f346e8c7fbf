// How diffs are shown: inline or side by side. The choice is remembered; side by side needs a wide window.

import { keep, kept } from "../lib/storage.js";

const KEY = "flightdeck.changesView";
const wide = matchMedia("(min-width: 1100px)");

export class ViewChoice extends EventTarget {
  #wanted = keptView();

  constructor(signal) {
    super();
    wide.addEventListener("change", () => this.#changed(), { signal });
    // Another tab may have chosen.
    addEventListener("storage", ({ key }) => key === KEY && this.#take(), { signal });
  }

  /** Whether there is room for two columns. */
  get canBeSideBySide() {
    return wide.matches;
  }

  get isSideBySide() {
    return this.canBeSideBySide && this.#wanted === "side-by-side";
  }

  choose(sideBySide) {
    this.#wanted = sideBySide ? "side-by-side" : "inline";
    // Without storage it holds until the page is closed.
    keep(KEY, this.#wanted);
    this.#changed();
  }

  #take() {
    this.#wanted = keptView();
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

function keptView() {
  return kept(KEY) ?? "inline";
}
