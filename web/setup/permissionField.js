// What the agent may do without asking, with a sentence about each mode.

import { make } from "../lib/dom.js";
import { ALLOW_ALL, modesOf } from "../lib/permissionModes.js";
import { catalogue } from "./agentCatalogue.js";
import { nextId } from "./optionField.js";

const MEANINGS = {
  ask: "You are asked before each action that no rule covers.",
  folder: "The agent reads and writes files in the working directory. Everything else is denied unless a rule allows it.",
  deny: "Every action that no rule allows is denied.",
  [ALLOW_ALL]: "The agent runs every tool without asking. Use it only where nothing can be lost.",
};
/** Of the first mode, for connections that can't ask. */
const ONLY_RULES = "This connection can't ask during a turn: anything that no rule allows is denied.";

export class PermissionField {
  #modes;
  #meanings;
  /** The mode of a session that chooses none. */
  #usual;
  #select;
  #hint;

  constructor(runtime, value, onChange) {
    this.#modes = modesOf(runtime.capabilities);
    this.#meanings = runtime.capabilities.permissions === false ? { ...MEANINGS, ask: ONLY_RULES } : MEANINGS;
    this.#usual = catalogue.defaultsOf(runtime.name).permissionMode;
    const id = nextId();
    const usual = this.#modes.find(([mode]) => mode === this.#usual)?.[1];
    const options = [make("option", { value: "", text: usual ? `Default: ${usual.toLowerCase()}` : "Default" }), ...this.#modes.map(([mode, label]) => make("option", { value: mode, text: label }))];
    this.#select = make("select", { id, "aria-describedby": `${id}-hint` }, ...options);
    this.#select.value = this.#modes.some(([mode]) => mode === value) ? value : "";
    this.#hint = make("p", { class: "field-hint", id: `${id}-hint`, "aria-live": "polite" });
    this.element = make("div", { class: "option", data: { option: "permissionMode" } }, make("label", { for: id, text: "Permissions" }), this.#select, this.#hint);
    this.#select.addEventListener("change", () => {
      this.#explain();
      onChange();
    });
    this.#explain();
  }

  /** The mode, or undefined for the configured one. */
  get value() {
    return this.#select.value || undefined;
  }

  /** The mode in words, if it is not the configured one, or if it allows everything. */
  get fact() {
    return this.value || this.isRisky ? this.#modes.find(([mode]) => mode === this.#mode)?.[1] : undefined;
  }

  /** Whether nothing stops the agent, by choice or by default. */
  get isRisky() {
    return this.#mode === ALLOW_ALL;
  }

  get #mode() {
    return this.#select.value || this.#usual;
  }

  #explain() {
    this.#hint.textContent = this.#meanings[this.#mode] ?? "Same as in your settings.";
    this.#hint.classList.toggle("field-warning", this.isRisky);
  }
}
