// Above all sections: where changes are written, and what waits for a restart.

import { copyFromButton } from "../lib/clipboard.js";
import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { plural, shortPath } from "../lib/format.js";
import { icon } from "../lib/icons.js";

export class SettingNotes {
  #element;
  #store;
  #said = make("span", { class: "setting-state", role: "status" });
  #path = make("code", { class: "path" });
  #file;

  /** The line with the file has its room from the beginning, so that nothing moves when the file is known. */
  constructor(element, store) {
    this.#element = element;
    this.#store = store;
    const copy = make("button", { type: "button", class: "quiet-button icon-button", "aria-label": "Copy the path", title: "Copy the path" }, icon("copy"));
    copy.addEventListener("click", () => copyFromButton(copy, store.userFile));
    const again = make("button", { type: "button", class: "link-button", text: "Reload", title: "Reload the file after editing it", on: { click: () => this.#reread() } });
    this.#file = make("p", { class: "settings-file unknown" }, make("span", { text: "Changes are written to " }), this.#path, copy, again, this.#said);
    element.append(this.#file);
    store.addEventListener("change", () => this.show());
  }

  show() {
    const { userFile, waitingForRestart } = this.#store;
    this.#path.textContent = exactString(shortPath(userFile, 60));
    this.#path.title = exactString(userFile);
    this.#file.classList.remove("unknown");
    this.#element.querySelector(".restart-note")?.remove();
    if (waitingForRestart.length > 0) this.#element.prepend(make("p", { class: "restart-note", role: "status" }, make("b", { text: `${plural(waitingForRestart.length, "change")} need${waitingForRestart.length === 1 ? "s" : ""} a server restart: ` }), make("span", { text: waitingForRestart.map(exactString).join(", ") })));
  }

  async #reread() {
    try {
      await this.#store.reread();
      this.#said.textContent = "Reloaded";
    } catch (problem) {
      this.#said.textContent = `Could not read it: ${problem.message}`;
    }
  }
}
