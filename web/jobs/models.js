// Other models than the entry's, by category. Most people never need them, so they are folded away.

import { ask } from "../lib/api.js";
import { byId, make } from "../lib/dom.js";
import { exactElement, exactString } from "../lib/exactText.js";
import { plural } from "../lib/format.js";

const place = byId("models-part");

export class Models {
  #boxes = new Map();
  #hasAsked = false;

  constructor() {
    place.addEventListener("toggle", () => place.open && this.#loadNames());
  }

  /** The categories of an entry with their models. What was written for a category that is still there stays. */
  setEntry({ models = {} } = {}) {
    const before = this.chosen;
    const rows = Object.entries(models).map(([category, model], index) => this.#row(category, model, before[category] ?? "", `model-box-${index}`));
    this.#boxes = new Map(rows.map(({ category, box }) => [category, box]));
    byId("models-list").replaceChildren(...rows.flatMap(({ label, box }) => [label, box]));
    place.hidden = rows.length === 0;
    this.#showCount();
  }

  /** The models that replace the entry's: category → id. */
  get chosen() {
    const written = [...this.#boxes].map(([category, box]) => [category, box.value.trim()]);
    return Object.fromEntries(written.filter(([, model]) => model !== ""));
  }

  #row(category, model, value, id) {
    const box = make("input", { type: "text", id, class: "model-box", list: "model-names", placeholder: exactString(model), spellcheck: "false", autocomplete: "off", value });
    box.addEventListener("input", () => this.#showCount());
    return { category, box, label: exactElement("label", { for: id }, category, { oneLine: true }) };
  }

  #showCount() {
    const count = Object.keys(this.chosen).length;
    byId("models-count").textContent = count === 0 ? "" : ` · ${plural(count, "change")}`;
  }

  async #loadNames() {
    if (this.#hasAsked) return;
    this.#hasAsked = true;
    try {
      const { models } = await ask("api/models");
      byId("model-names").replaceChildren(...models.filter(({ listed }) => listed).map(({ listedId, name }) => make("option", { value: listedId, text: name })));
    } catch {
      // A name can be written without suggestions. The next time it is opened, they are asked for again.
      this.#hasAsked = false;
    }
  }
}
