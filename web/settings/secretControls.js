// Values that the server never shows: they are kept, replaced or removed.

import { make } from "../lib/dom.js";
import { nextId } from "./controls.js";

const HIDDEN = "[redacted]";

/** A control as those of controls.js, around an input for a new value. */
class Hidden {
  onInput = () => {};
  element = make("div", { class: "secret-control" });
  input;
  /** The value stays as it is. */
  #isKept = false;
  /** It would, but the server no longer has it. */
  #isLost = false;
  #kept;

  constructor(input, noun) {
    this.input = input;
    const button = (text, label, hint) => make("button", { type: "button", text, "aria-label": label, on: { click: () => this.#give(hint) } });
    const hint = input.placeholder;
    this.#kept = make("span", { class: "secret-kept" }, make("span", { text: "Set, not shown" }), button("Replace", `Replace the ${noun}`, hint), button("Remove", `Remove the ${noun}`, "Will be removed"));
    this.element.append(this.#kept, input);
    input.addEventListener("input", () => this.onInput());
  }

  get id() {
    return this.input.id;
  }

  get isImmediate() {
    return false;
  }

  get hasLines() {
    return this.input instanceof HTMLTextAreaElement;
  }

  set disabled(value) {
    this.element.querySelectorAll("input, textarea, button").forEach((one) => (one.disabled = value));
  }

  set invalid(value) {
    if (value) this.input.setAttribute("aria-invalid", "true");
    else this.input.removeAttribute("aria-invalid");
  }

  /** The hidden mark means the value as it is; undefined means none. */
  read() {
    return this.#isKept ? HIDDEN : this.readNew();
  }

  readNew() {
    return this.input.value || undefined;
  }

  write(value) {
    this.input.value = "";
    this.#show(value !== undefined && value !== null && value !== "");
  }

  /** The server has the value no longer, or again. Returns whether the person must write it, to have one. */
  setGone(isGone) {
    if (isGone && this.#isKept) {
      this.#isLost = true;
      this.#show(false);
    } else if (!isGone && this.#isLost) {
      this.#isLost = false;
      if (!this.input.value) this.#show(true);
    }
    return this.#isLost;
  }

  /** A new value is asked for; without one, there is none any more. */
  #give(hint) {
    this.input.placeholder = hint;
    this.#show(false);
    this.input.focus();
    this.onInput();
  }

  #show(isKept) {
    this.#isKept = isKept;
    this.#kept.hidden = !isKept;
    this.input.hidden = isKept;
  }
}

/** One secret text. */
export class SecretText extends Hidden {
  constructor({ label, placeholder, isReadable = false }, properties = {}) {
    super(make("input", { type: isReadable ? "text" : "password", placeholder, id: nextId(), autocomplete: "new-password", spellcheck: "false", ...properties }), label.toLowerCase());
  }
}

/** Names with values, such as headers and variables, which may all be secrets. */
export class SecretPairs extends Hidden {
  constructor({ label, separator = "=" }, properties = {}) {
    const hint = separator === ":" ? "Name: value" : "NAME=value";
    super(make("textarea", { id: nextId(), rows: "2", spellcheck: "false", placeholder: hint, ...properties }), label.toLowerCase());
    this.separator = separator;
  }

  readNew() {
    const lines = this.input.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const pairs = lines.map((line) => {
      const at = line.indexOf(this.separator);
      if (at < 1) throw new Error(`Write each line as ${this.separator === ":" ? "Name: value" : "NAME=value"}.`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
    return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
  }
}

/** Several of some words. */
export class Checks {
  onInput = () => {};
  element;
  input;
  #boxes;

  constructor({ choices, label }) {
    this.#boxes = choices.map(([value]) => make("input", { type: "checkbox", id: nextId(), value }));
    this.input = this.#boxes[0];
    const lines = choices.map(([, text], index) => make("label", { class: "check-line" }, this.#boxes[index], make("span", { text })));
    this.element = make("div", { class: "checks", role: "group", "aria-label": label }, ...lines);
    this.element.addEventListener("change", () => this.onInput());
  }

  get id() {
    return null;
  }

  get isImmediate() {
    return false;
  }

  get hasLines() {
    return false;
  }

  set disabled(value) {
    for (const box of this.#boxes) box.disabled = value;
  }

  set invalid(value) {
    this.element.classList.toggle("invalid", Boolean(value));
  }

  read() {
    return this.#boxes.filter(({ checked }) => checked).map(({ value }) => value);
  }

  write(value) {
    for (const box of this.#boxes) box.checked = (value ?? []).includes(box.value);
  }
}
