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

  constructor(element, store) {
    this.#element = element;
    this.#store = store;
    store.addEventListener("change", () => this.show());
  }

  show() {
    const { userFile, waitingForRestart } = this.#store;
    const copy = make("button", { type: "button", class: "quiet-button icon-button", "aria-label": "Copy the path", title: "Copy the path" }, icon("copy"));
    copy.addEventListener("click", () => copyFromButton(copy, userFile));
    const again = make("button", { type: "button", class: "link-button", text: "Reload", title: "Reload the file after editing it", on: { click: () => this.#reread() } });
    const file = make("p", { class: "settings-file" }, make("span", { text: "Changes are written to " }), make("code", { class: "path", title: exactString(userFile), text: exactString(shortPath(userFile, 60)) }), copy, again, this.#said);
    const parts = [file];
    if (waitingForRestart.length > 0) parts.unshift(make("p", { class: "restart-note", role: "status" }, make("b", { text: `${plural(waitingForRestart.length, "change")} need${waitingForRestart.length === 1 ? "s" : ""} a server restart: ` }), make("span", { text: waitingForRestart.map(exactString).join(", ") })));
    this.#element.replaceChildren(...parts);
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
