// The search over all settings: hides what does not contain all words, and opens agents whose options do.

/** What can be found one by one. */
const ITEMS = ".setting, .entry, .runtime-defaults";

export class SettingSearch {
  /** The agents that were opened to show what was found in them. */
  #opened = new Set();

  /** Whether a change of the page added something that can be found. */
  static concerns(changes) {
    const canBeFound = (node) => node instanceof Element && (node.matches(ITEMS) || node.querySelector(ITEMS) !== null);
    return changes.some(({ type, addedNodes }) => type === "attributes" || [...addedNodes].some(canBeFound));
  }

  /** Shows only what contains all these words in a section; returns how many that are. */
  find(section, words) {
    const fits = (text) => words.every((word) => text.toLowerCase().includes(word));
    let found = 0;
    for (const group of section.querySelectorAll(".setting-group")) {
      const heading = `${section.querySelector("h2").textContent} ${group.querySelector("h3").textContent}`;
      const isWhole = fits(heading);
      let count = isWhole ? 1 : 0;
      for (const item of group.querySelectorAll(ITEMS)) {
        const fitsHere = (text) => isWhole || fits(`${heading} ${text}`);
        const isFound = item.matches("details") ? this.#findInside(item, fitsHere) : fitsHere(item.textContent);
        item.classList.toggle("not-found", !isFound);
        count += isFound ? 1 : 0;
      }
      group.classList.toggle("not-found", count === 0);
      found += count;
    }
    return found;
  }

  /** Shows everything of a section again. */
  clear(section) {
    section.querySelectorAll(".not-found").forEach((one) => one.classList.remove("not-found"));
    section.querySelectorAll("details.runtime-defaults").forEach((details) => this.#close(details));
  }

  /** An agent that is named is found as a whole; otherwise it is opened at the options that are. */
  #findInside(details, fits) {
    const summary = details.querySelector("summary").textContent;
    const fields = [...details.querySelectorAll(".entry-field")];
    const isNamed = fits(summary);
    const found = fields.filter((field) => isNamed || fits(`${summary} ${field.textContent}`));
    fields.forEach((field) => field.classList.toggle("not-found", !found.includes(field)));
    if (isNamed || found.length === 0) this.#close(details);
    else if (!details.open) {
      this.#opened.add(details.dataset.runtime);
      details.open = true;
    }
    return isNamed || found.length > 0;
  }

  /** What the person opened stays open. */
  #close(details) {
    if (this.#opened.delete(details.dataset.runtime)) details.open = false;
  }
}
