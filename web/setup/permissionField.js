// What the agent may do without asking, with a sentence about each mode.

import { make } from "../lib/dom.js";
import { catalogue } from "./agentCatalogue.js";
import { nextId } from "./optionField.js";

/** Mode, label, and what it means. */
const MODES = [
  ["ask", "Ask me", "You are asked before each action that no rule covers."],
  ["folder", "Allow files in the folder, deny the rest", "The agent reads and writes files in the working directory. Everything else is denied unless a rule allows it."],
  ["deny", "Deny everything", "Every action that no rule allows is denied."],
  ["allow-all", "Allow everything", "The agent runs every tool without asking. Use it only where nothing can be lost."],
];
const CANNOT_ASK = "This connection can't ask during a turn: anything that no rule allows is denied.";

export class PermissionField {
  #runtime;
  #select;
  #hint;

  constructor(runtime, value, onChange) {
    this.#runtime = runtime;
    const id = nextId();
    const usual = MODES.find(([mode]) => mode === catalogue.permissionMode)?.[1];
    const options = [make("option", { value: "", text: usual ? `Default: ${usual.toLowerCase()}` : "Default" }), ...MODES.map(([mode, label]) => make("option", { value: mode, text: label }))];
    this.#select = make("select", { id, "aria-describedby": `${id}-hint` }, ...options);
    this.#select.value = MODES.some(([mode]) => mode === value) ? value : "";
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

  /** The mode in words, if it is not the configured one. */
  get fact() {
    return MODES.find(([mode]) => mode === this.#select.value)?.[1];
  }

  get isRisky() {
    return this.#select.value === "allow-all";
  }

  #explain() {
    const mode = this.#select.value || catalogue.permissionMode;
    const cannotAsk = mode === "ask" && this.#runtime.capabilities.permissions === false;
    this.#hint.textContent = cannotAsk ? CANNOT_ASK : (MODES.find(([name]) => name === mode)?.[2] ?? "Same as in your settings.");
    this.#hint.classList.toggle("field-warning", this.isRisky);
  }
}
