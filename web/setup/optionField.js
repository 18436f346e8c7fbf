// One option of a session as a field. The server says what each option is (`options` in api/runtimes).

import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { McpServersField } from "./mcpServersField.js";

/**
 * A field for an option: `{ element, value, problem, focus() }`. `value` is undefined while the option has its default;
 * `problem` says why the value cannot be used. `onChange` is called when the person changes something.
 */
export function optionField(option, value, onChange) {
  const Field = FIELDS[option.kind];
  return Field ? new Field(option, value, onChange) : null;
}

let fieldsMade = 0;

class SwitchField {
  #option;
  #box;

  constructor(option, value, onChange) {
    this.#option = option;
    const id = nextId();
    this.#box = make("input", { type: "checkbox", id, "aria-describedby": `${id}-hint`, on: { change: onChange } });
    this.#box.checked = value ?? option.default ?? false;
    this.element = make("div", { class: "option option-switch", data: { option: option.name } }, this.#box, make("label", { for: id, text: option.label }), make("p", { class: "field-hint", id: `${id}-hint`, text: option.hint }));
  }

  get value() {
    return this.#box.checked === (this.#option.default ?? false) ? undefined : this.#box.checked;
  }

  problem = null;

  focus() {
    this.#box.focus();
  }
}

class ChoiceField {
  #select;

  constructor(option, value, onChange) {
    const id = nextId();
    const choices = option.choices ?? [];
    const isKnown = value === undefined || choices.some((choice) => choice.value === value);
    const usual = choices.find((choice) => choice.value === option.default)?.label ?? option.default;
    const options = [make("option", { value: "", text: usual ? exactString(`Default: ${usual}`) : "Default" }), ...choices.map(({ value: key, label }) => make("option", { value: key, text: exactString(label) }))];
    this.#select = make("select", { id, "aria-describedby": `${id}-hint`, on: { change: onChange } }, ...options);
    this.#select.value = isKnown ? (value ?? "") : "";
    this.element = labelled(option, id, this.#select);
    this.element.hidden = choices.length === 0;
  }

  get value() {
    return this.#select.value || undefined;
  }

  problem = null;

  focus() {
    this.#select.focus();
  }
}

class TextField {
  #input;

  constructor(option, value, onChange) {
    const id = nextId();
    const list = option.choices?.length > 0 ? make("datalist", { id: `${id}-list` }, ...option.choices.map(({ value: key, label }) => make("option", { value: key, text: label }))) : null;
    this.#input = make("input", { type: "text", id, list: list && `${id}-list`, placeholder: option.default ? `Default: ${option.default}` : "Default", "aria-describedby": `${id}-hint`, spellcheck: "false", autocomplete: "off", value, on: { input: onChange } });
    this.element = labelled(option, id, this.#input, list);
  }

  get value() {
    return this.#input.value.trim() || undefined;
  }

  problem = null;

  focus() {
    this.#input.focus();
  }
}

class NumberField {
  #option;
  #input;

  constructor(option, value, onChange) {
    this.#option = option;
    const id = nextId();
    const isCount = option.kind === "count";
    this.#input = make("input", { type: "number", id, min: isCount ? 1 : "0.01", step: isCount ? 1 : "any", inputmode: isCount ? "numeric" : "decimal", placeholder: option.default ? `Default: ${option.default}` : "No limit", "aria-describedby": `${id}-hint`, value, on: { input: onChange } });
    this.element = labelled(option, id, this.#input);
  }

  get value() {
    return this.#input.value === "" ? undefined : this.#input.valueAsNumber;
  }

  get problem() {
    if (this.#input.validity.valid) return null;
    return `${this.#option.label}: enter ${this.#option.kind === "count" ? "a whole number of 1 or more" : "a number above 0"}, or leave it empty.`;
  }

  focus() {
    this.#input.focus();
  }
}

class ListField {
  #area;

  constructor(option, value, onChange) {
    const id = nextId();
    this.#area = make("textarea", { id, rows: 2, placeholder: option.default?.length > 0 ? `Default: ${option.default.join(", ")}` : "One per line", "aria-describedby": `${id}-hint`, spellcheck: "false", autocomplete: "off", on: { input: onChange } });
    this.#area.value = Array.isArray(value) ? value.join("\n") : "";
    this.element = labelled(option, id, this.#area);
  }

  get value() {
    const lines = this.#area.value.split("\n").map((line) => line.trim()).filter(Boolean);
    return lines.length > 0 ? lines : undefined;
  }

  problem = null;

  focus() {
    this.#area.focus();
  }
}

const FIELDS = { switch: SwitchField, choice: ChoiceField, provider: ChoiceField, text: TextField, count: NumberField, amount: NumberField, list: ListField, "mcp-servers": McpServersField };

/** A label, the control and the explanation. */
export function labelled({ name, label, hint }, id, ...controls) {
  return make("div", { class: "option", data: { option: name } }, make("label", { for: id, text: label }), ...controls, make("p", { class: "field-hint", id: `${id}-hint`, text: hint }));
}

export function nextId() {
  fieldsMade += 1;
  return `start-option-${fieldsMade}`;
}
