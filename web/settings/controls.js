// Boxes and switches for single values. Each has an `element`, `read()` for its value (throws an Error with a sentence if
// there is none), `write(value)`, and calls `onInput` when the person changes it.

import { make } from "../lib/dom.js";
import { bytes } from "../lib/format.js";

let made = 0;

const UNITS = { "": 1, B: 1, BYTES: 1, KB: 1024, KIB: 1024, MB: 1024 ** 2, MIB: 1024 ** 2, GB: 1024 ** 3, GIB: 1024 ** 3 };

/** What is the same for all: `{ kind, choices, suggestions, placeholder, label }`. */
export function makeControl(spec, properties = {}) {
  const kinds = { switch: Switch, choice: Choice, list: List, number: Whole, amount: Amount, bytes: Bytes, time: Time, duration: Text, text: Text, path: Path };
  return new (kinds[spec.kind] ?? Text)(spec, { id: nextId(), ...properties });
}

export function nextId() {
  made += 1;
  return `setting-control-${made}`;
}

class Control {
  onInput = () => {};
  /** What is focused and labelled. */
  input;
  element;

  constructor(input, element = input) {
    this.input = input;
    this.element = element;
    // The "change" of a text comes when it loses the focus, perhaps long after it was saved.
    const isChosen = input.matches("select, [type=checkbox]");
    input.addEventListener(isChosen ? "change" : "input", () => this.onInput());
  }

  /** Whether a choice is complete with one click, so that it can be saved at once. */
  get isImmediate() {
    return false;
  }

  /** Whether Enter belongs to the text. */
  get hasLines() {
    return false;
  }

  get id() {
    return this.input.id;
  }

  set disabled(value) {
    this.input.disabled = value;
  }

  set invalid(value) {
    if (value) this.input.setAttribute("aria-invalid", "true");
    else this.input.removeAttribute("aria-invalid");
  }

  read() {
    return this.input.value.trim();
  }

  write(value) {
    this.input.value = value ?? "";
  }
}

class Text extends Control {
  constructor({ suggestions, placeholder, kind, width }, properties) {
    const list = suggestions ? make("datalist", { id: `${properties.id}-list` }) : null;
    const input = make("input", { type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off", placeholder, list: list?.id, class: width ?? (kind === "duration" ? "narrow" : null), ...properties });
    super(input, list ? make("span", { class: "control-pair" }, input, list) : input);
    this.list = list;
    if (suggestions) this.suggest(suggestions);
  }

  suggest(values) {
    this.list?.replaceChildren(...values.map((value) => make("option", { value: value.id ?? value, text: value.name ?? null })));
  }
}

class Path extends Text {
  constructor(spec, properties) {
    super(spec, properties);
    this.input.classList.add("path");
  }
}

class Time extends Control {
  constructor(spec, properties) {
    super(make("input", { type: "time", class: "narrow", ...properties }));
  }
}

class Whole extends Control {
  #least;
  #most;
  #words;

  /** From `least` to `most`; without these, 0 or more. */
  constructor({ placeholder, isName, least = 0, most }, properties) {
    super(make("input", { type: "text", inputmode: "numeric", class: "narrow", autocomplete: "off", placeholder, ...properties }));
    this.#least = least;
    this.#most = most;
    this.#words = (number) => number.toLocaleString("en", { useGrouping: !isName });
  }

  read() {
    const text = super.read().replace(/(?<=\d)[\s_,'](?=\d{3})/g, "");
    const number = Number(text);
    const isWhole = /^\d+$/.test(text);
    const most = this.#most ?? Number.MAX_SAFE_INTEGER;
    if (isWhole && number >= this.#least && number <= most) return number;
    const isOpen = this.#most === undefined && !(isWhole && number > most);
    throw new Error(isOpen ? `Enter a whole number, ${this.#least} or more.` : `Enter a whole number from ${this.#least} to ${this.#words(most)}.`);
  }
}

class Amount extends Control {
  #isFraction;

  constructor({ placeholder, isFraction = false }, properties) {
    super(make("input", { type: "text", inputmode: "decimal", class: "narrow", autocomplete: "off", placeholder, ...properties }));
    this.#isFraction = isFraction;
  }

  read() {
    const text = super.read().replace(",", ".");
    const number = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (this.#isFraction && !(number > 0 && number <= 1)) throw new Error("Enter a fraction above 0 and at most 1, such as 0.8.");
    if (Number.isNaN(number)) throw new Error("Enter a number, 0 or more.");
    return number;
  }
}

class Bytes extends Control {
  #words = make("span", { class: "control-unit" });

  constructor(spec, properties) {
    const input = make("input", { type: "text", class: "narrow", autocomplete: "off", ...properties });
    const pair = make("span", { class: "control-pair" }, input);
    super(input, pair);
    pair.append(this.#words);
    input.addEventListener("input", () => this.#say());
  }

  read() {
    const [, number, unit] = super.read().match(/^([\d.,_ ]*\d)\s*([A-Za-z]*)$/) ?? [];
    const factor = UNITS[(unit ?? "").toUpperCase()];
    const size = Number((number ?? "x").replace(/[_, ](?=\d{3})/g, "").replace(",", "."));
    const total = Math.round(size * (factor ?? Number.NaN));
    if (!Number.isSafeInteger(total)) throw new Error("Enter a size, such as 32 MB or 1048576.");
    return total;
  }

  write(value) {
    super.write(value);
    this.#say();
  }

  #say() {
    try {
      const size = this.read();
      this.#words.textContent = size >= 1024 && /^\d+$/.test(this.input.value.trim()) ? `= ${bytes(size)}` : "bytes";
    } catch {
      this.#words.textContent = "bytes";
    }
  }
}

class Switch extends Control {
  constructor(spec, properties) {
    super(make("input", { type: "checkbox", class: "switch", role: "switch", ...properties }));
  }

  get isImmediate() {
    return true;
  }

  read() {
    return this.input.checked;
  }

  write(value) {
    this.input.checked = value === true;
  }
}

class Choice extends Control {
  #choices;

  constructor({ choices }, properties) {
    super(make("select", properties));
    this.choices = choices ?? [];
  }

  /** `[value, text]` each. */
  set choices(choices) {
    const chosen = this.input.value;
    this.#choices = choices;
    this.input.replaceChildren(...choices.map(([value, text]) => make("option", { value, text })));
    if (chosen) this.write(chosen);
  }

  read() {
    return this.input.value;
  }

  /** A value that is not offered is shown all the same, and kept. */
  write(value) {
    const text = String(value ?? "");
    if (!this.#choices.some(([known]) => known === text)) this.choices = [...this.#choices, [text, text || "(empty)"]];
    this.input.value = text;
  }
}

class List extends Control {
  constructor({ placeholder }, properties) {
    super(make("textarea", { rows: "2", spellcheck: "false", placeholder: placeholder ?? "One per line", ...properties }));
    this.input.addEventListener("input", () => this.#fit());
  }

  get hasLines() {
    return true;
  }

  read() {
    return this.input.value.split("\n").map((line) => line.trim()).filter(Boolean);
  }

  write(value) {
    super.write((value ?? []).join("\n"));
    this.#fit();
  }

  #fit() {
    this.input.rows = Math.min(10, Math.max(2, this.input.value.split("\n").length));
  }
}
