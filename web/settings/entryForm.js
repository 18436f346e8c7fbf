// A form for one entry of a table, such as a provider. The whole entry is saved at once; what the form does not know stays.

import { announce } from "../lib/announcer.js";
import { make, setText } from "../lib/dom.js";
import { makeControl } from "./controls.js";
import { refusedField, savingProblem, shortened } from "./savingProblem.js";
import { Checks, SecretPairs, SecretText } from "./secretControls.js";
import { layerBadge } from "./settingField.js";
import { entryKey } from "./settingsStore.js";

const SPECIAL = { secret: SecretText, pairs: SecretPairs, checks: Checks };

/** Boxes for fields `{ name, label, about, kind, … }` of an object. */
export class ObjectFields {
  element = make("div", { class: "entry-fields" });
  onInput = () => {};
  #fields;
  #value = {};

  constructor(fields) {
    this.#fields = fields.map((field) => ({ ...field, ...this.#made(field) }));
    this.element.append(...this.#fields.map(({ row }) => row));
  }

  get first() {
    return this.#fields[0]?.control.input;
  }

  write(value) {
    this.#value = value ?? {};
    for (const { name, control, fallback } of this.#fields) control.write(this.#value[name] ?? fallback);
    this.#show();
  }

  /** The object, without what is empty. Throws an Error that names the field. */
  read() {
    const value = { ...this.#value };
    for (const { name, label, control, isShown, keepsEmpty, fallback } of this.#fields) {
      const wasSet = name in value;
      delete value[name];
      if (isShown && !isShown(this.#raw())) continue;
      let read;
      try {
        read = control.read();
      } catch (error) {
        control.invalid = true;
        throw new Error(`${label}: ${error.message}`);
      }
      control.invalid = false;
      const isEmpty = read === undefined || read === "" || (Array.isArray(read) && read.length === 0);
      // What is as it would be without a word needs none.
      const isDefault = !wasSet && JSON.stringify(read) === JSON.stringify(fallback);
      if (!isDefault && (!isEmpty || (keepsEmpty && read !== undefined))) value[name] = read;
    }
    return value;
  }

  /** The fields with what is typed in them, to tell which one the server's words are about. */
  get typed() {
    return this.#fields.map(({ name, label, kind, control }) => ({ name, label, kind, typed: control.input.value?.trim() }));
  }

  /** Marks the field with that name as wrong, and no other. */
  refuse(refused) {
    for (const { name, control } of this.#fields) control.invalid = name === refused;
  }

  /** Shows at each value that is set where it comes from; `setting` is undefined if none is. */
  showLayer(setting) {
    for (const { name, row } of this.#fields) {
      row.querySelector(".setting-meta")?.remove();
      if (setting && name in this.#value) row.querySelector(".entry-field-body").append(make("p", { class: "setting-meta" }, layerBadge(setting)));
    }
  }

  /** Offers these values for a text. */
  suggest(wanted, values) {
    this.#fields.find(({ name }) => name === wanted)?.control.suggest(values);
  }

  /** Secrets that the server has are lost with their entry, and there again with it. Returns whether there are any. */
  setGone(isGone) {
    const secrets = this.#fields.filter(({ control }) => control.setGone?.(isGone));
    return secrets.length > 0;
  }

  #made(field) {
    const Kind = SPECIAL[field.kind];
    // A number may be left out here.
    const control = Kind ? new Kind(field) : ["number", "amount"].includes(field.kind) ? optional(makeControl(field)) : makeControl(field);
    control.onInput = () => {
      this.#show();
      this.onInput();
    };
    const about = field.about ? make("p", { class: "field-hint", text: field.about, id: control.id ? `${control.id}-about` : null }) : null;
    if (about && control.id) control.input.setAttribute("aria-describedby", about.id);
    const label = control.id ? make("label", { for: control.id, text: field.label }) : make("span", { class: "entry-label", text: field.label });
    const row = make("div", { class: "entry-field", data: { field: field.name } }, label, make("div", { class: "entry-field-body" }, control.element, about));
    return { control, row };
  }

  /** The values as far as they can be read, for fields that depend on others. */
  #raw() {
    const tried = ({ control }) => {
      try {
        return control.read();
      } catch {
        return undefined;
      }
    };
    return Object.fromEntries(this.#fields.filter(({ isShown }) => !isShown).map((field) => [field.name, tried(field)]));
  }

  #show() {
    const raw = this.#raw();
    for (const { isShown, row } of this.#fields) if (isShown) row.hidden = !isShown(raw);
  }
}

function optional(control) {
  const read = control.read.bind(control);
  control.read = () => (control.input.value.trim() === "" ? undefined : read());
  return control;
}

/**
 * The form: `table`, `name` (null for a new entry), `value`, `fields`, `noun`. `onDone` is called with the name after it was
 * saved, with null when the person cancelled. `pack` may turn the form's object into another value; null removes the entry.
 */
export class EntryForm {
  element;
  onDone = () => {};
  #store;
  #settings;
  #fields;
  #name = null;
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });
  #gone = make("p", { class: "field-warning", role: "alert", hidden: true });
  #save = make("button", { type: "submit", class: "primary", text: "Save" });
  #state = make("span", { class: "setting-state", role: "status" });
  #checks = 0;
  /** Counts what is typed: what comes while an earlier value is being saved stays. */
  #edits = 0;
  #savedEdits = 0;
  /** A new entry is incomplete at first, which needs no word. */
  #isComplete;

  constructor(store, settings) {
    this.#store = store;
    this.#settings = settings;
    this.#isComplete = settings.name !== null;
    const { name, value, fields, noun } = settings;
    this.#fields = new ObjectFields(fields);
    this.#fields.write(value);
    this.#fields.onInput = () => this.#typed();
    const rows = [this.#fields.element];
    if (name === null) {
      this.#name = makeControl({ kind: "text", placeholder: settings.namePlaceholder });
      rows.unshift(make("div", { class: "entry-field" }, make("label", { for: this.#name.id, text: "Name" }), make("div", { class: "entry-field-body" }, this.#name.element, make("p", { class: "field-hint", text: settings.nameAbout ?? `What to call this ${noun}.` }))));
      this.#name.onInput = () => this.#typed();
    }
    const cancel = make("button", { type: "button", text: "Cancel", on: { click: () => this.onDone(null) } });
    this.element = make("form", { class: "entry-form", "aria-label": name === null ? `New ${noun}` : `${noun} ${name}`, novalidate: true }, this.#gone, ...rows, make("div", { class: "entry-buttons" }, this.#save, cancel, this.#state), this.#problem);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.element.addEventListener("focusout", ({ target, relatedTarget }) => target.matches("input, textarea") && !relatedTarget?.closest?.(".entry-buttons") && this.#check());
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      this.onDone(null);
    });
  }

  /** Whether something was typed that is not saved. */
  get isDirty() {
    return this.#edits !== this.#savedEdits;
  }

  /** Shows another value, instead of what was typed; `setting` says where it comes from. */
  write(value, setting) {
    this.#savedEdits = this.#edits;
    this.element.classList.remove("dirty");
    this.#checks += 1;
    this.#fields.write(value);
    this.#fields.showLayer(setting);
    this.say("");
    this.#say(null);
  }

  suggest(field, values) {
    this.#fields.suggest(field, values);
  }

  /** A word beside the buttons, for a form that stays. */
  say(text) {
    this.#state.textContent = text;
  }

  focus() {
    (this.#name?.input ?? this.#fields.first)?.focus();
  }

  /** Whether the entry was removed elsewhere while this form was open: says so, and what Save does now. */
  setGone(isGone) {
    const hasSecrets = this.#fields.setGone(isGone);
    const again = hasSecrets ? "Save adds it again; its secrets are not kept, so enter them again." : "Save adds it again.";
    setText(this.#gone, isGone ? `This ${this.#settings.noun} is no longer in your settings file. ${again}` : null);
  }

  /** `{ key, value, name }`, or null with a word on what is missing. */
  #read({ quietly = false } = {}) {
    const { table, noun, pack } = this.#settings;
    try {
      const name = this.#settings.name ?? this.#name.read();
      if (!name) throw new Error(`Give the ${noun} a name.`);
      if (this.#settings.name === null && this.#store.entries(table).some(([known]) => known === name)) throw new Error(`This name is already in use. Choose another name for the ${noun}.`);
      const value = this.#fields.read();
      return { key: entryKey(table, name), name, value: pack ? pack(value) : value };
    } catch (error) {
      if (!quietly) setText(this.#problem, error.message);
      return null;
    }
  }

  /** Says early what the server would refuse, once there is something to check. */
  async #check() {
    const read = this.#isComplete ? this.#read({ quietly: true }) : null;
    if (!read) return;
    this.#checks += 1;
    const check = this.#checks;
    try {
      await this.#store.check({ [read.key]: read.value });
      if (check === this.#checks) this.#say(null);
    } catch (problem) {
      if (check === this.#checks && problem.status === 400) this.#refused(problem, shortened(problem.message, this.#fields.typed));
    }
  }

  #typed() {
    this.#edits += 1;
    this.element.classList.add("dirty");
    this.say("");
    this.#say(null);
  }

  #say(problem) {
    setText(this.#problem, problem);
    if (!problem) this.#fields.refuse(null);
  }

  #refused(problem, words) {
    this.#say(words);
    this.#fields.refuse(problem.status === 400 ? refusedField(problem.message, this.#fields.typed)?.name : null);
  }

  async #send() {
    this.#isComplete = true;
    const read = this.#read();
    if (!read) return;
    this.#checks += 1;
    this.say("");
    const edits = this.#edits;
    const focused = document.activeElement;
    this.#save.disabled = true;
    try {
      await this.#store.change({ [read.key]: read.value });
      this.#savedEdits = edits;
      announce("Saved");
      this.onDone(read.name);
    } catch (problem) {
      this.#refused(problem, savingProblem(problem, this.#fields.typed));
    } finally {
      this.#save.disabled = false;
      // A button that is disabled for a moment loses the focus.
      if (document.activeElement === document.body && this.element.contains(focused)) focused.focus();
    }
  }
}
