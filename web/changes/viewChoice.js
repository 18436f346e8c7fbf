// How diffs are shown: inline or side by side. The choice is remembered; side by side needs a wide window.

const KEY = "flightdeck.changesView";
const wide = matchMedia("(min-width: 1100px)");

export class ViewChoice extends EventTarget {
  #wanted = kept();

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
    try {
      localStorage.setItem(KEY, this.#wanted);
    } catch {
      // It holds until the page is closed.
    }
    this.#changed();
  }

  #take() {
    this.#wanted = kept();
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

function kept() {
  try {
    return localStorage.getItem(KEY) ?? "inline";
  } catch {
    return "inline";
  }
}
