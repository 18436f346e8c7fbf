// One setting: its value, where it comes from, what it would be otherwise, and the way to change it. The server checks
// what is typed; the field says what is wrong, what was saved, and when it counts.

import { announce } from "../lib/announcer.js";
import { make, setText } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { bytes } from "../lib/format.js";
import { makeControl } from "./controls.js";
import { savingProblem, shortened } from "./savingProblem.js";

const CHECK_AFTER = 350;

const LAYERS = {
  default: { name: "Default", about: () => "Built in" },
  user: { name: "Your file", about: (source) => source },
  project: { name: "Project", about: (source) => source },
  environment: { name: "Environment", about: (source) => source },
  flag: { name: "Flag", about: (source) => source },
};

/** A word for the layer that a value comes from; the file, the variable or the flag is its tooltip. */
export function layerBadge({ layer, source }) {
  const { name, about } = LAYERS[layer] ?? { name: layer, about: () => source };
  const title = exactString(about(source));
  return make("span", { class: `layer layer-${layer}`, title }, make("span", { text: name }), layer === "default" ? null : make("span", { class: "visually-hidden", text: `: ${title}` }));
}

export class SettingField {
  element;
  control;
  #store;
  #spec;
  #shown = null;
  #isDirty = false;
  #isSaving = false;
  /** Counts what is typed: what comes while an earlier value is being saved stays. */
  #edits = 0;
  #savesAgain = false;
  /** `{ value }` that was sent and got no reply: it may have been saved. */
  #unanswered = null;
  #checks = 0;
  #timer = null;
  #save = make("button", { type: "button", class: "primary", text: "Save", hidden: true });
  #cancel = make("button", { type: "button", text: "Cancel", hidden: true });
  #reset = make("button", { type: "button", class: "link-button", text: "Reset" });
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });
  #state = make("span", { class: "setting-state", role: "status" });
  #reason = make("p", { class: "setting-reason", hidden: true });
  #warning = make("p", { class: "field-warning", role: "status", hidden: true });
  #meta = make("p", { class: "setting-meta" });

  /** `spec` is `{ key, label, about, kind, … }` from the catalogue. */
  constructor(store, spec) {
    this.#store = store;
    this.#spec = spec;
    this.control = makeControl({ ...spec, placeholder: spec.placeholder ?? spec.empty });
    const { id } = this.control;
    const ids = { about: `${id}-about`, problem: `${id}-problem` };
    this.#problem.id = ids.problem;
    this.control.input.setAttribute("aria-describedby", `${ids.about} ${ids.problem}`);
    const words = make("div", { class: "setting-words" }, make("label", { for: id, text: spec.label }), make("p", { class: "setting-about", id: ids.about, text: spec.about }), make("code", { class: "setting-key", text: spec.key }));
    const unit = spec.unit ? make("span", { class: "control-unit", text: spec.unit }) : null;
    const row = make("div", { class: "setting-control" }, this.control.element, unit, this.#save, this.#cancel, this.#state);
    this.extra = make("div", { class: "setting-extra" });
    this.element = make("div", { class: "setting", data: { key: spec.key } }, words, make("div", { class: "setting-body" }, row, this.#problem, this.#warning, this.#reason, this.extra, this.#meta));
    this.control.onInput = () => this.#typed();
    this.control.input.addEventListener("blur", () => this.#isDirty && this.#check());
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.#save.addEventListener("click", () => this.save());
    this.#cancel.addEventListener("click", () => this.#revert());
    this.#reset.addEventListener("click", () => this.#send(null));
    this.#reset.setAttribute("aria-label", `Reset ${spec.label}`);
    store.addEventListener("change", () => this.show());
    this.show();
  }

  get key() {
    return this.#spec.key;
  }

  /** Shows what the server has; what somebody is typing stays. */
  show() {
    this.#findSaved();
    const setting = this.#store.get(this.#spec.key);
    const text = JSON.stringify(setting) + this.#store.waitingForRestart.includes(this.#spec.key);
    if (!setting || this.#isDirty || text === this.#shown) return;
    this.#shown = text;
    const { layer, source, effect } = setting;
    const isFixed = layer === "environment" || layer === "flag";
    this.element.dataset.layer = layer;
    this.control.write(this.#editable(setting));
    this.control.disabled = isFixed;
    setText(this.#reason, this.#reasonOf(setting));
    this.#warn();
    const parts = [layerBadge(setting)];
    if (layer !== "default") parts.push(make("span", { text: `Default: ${this.#words(setting.default)}` }));
    if (this.#store.waitingForRestart.includes(this.#spec.key)) parts.push(make("span", { class: "needs-restart", text: "Waiting for a restart" }));
    else if (effect === "restart") parts.push(make("span", { text: "Changes need a restart" }));
    this.#meta.title = source;
    this.#meta.replaceChildren(...parts);
    if (setting.userValue !== undefined && !isFixed) this.#meta.append(this.#reset);
  }

  /** A value that got no reply was saved all the same if the file has it now. */
  #findSaved() {
    if (this.#unanswered === null || this.#isSaving || !this.#store.isInFile(this.#spec.key, this.#unanswered.value)) return;
    const text = this.#unanswered.value === null ? "Reset" : "Saved";
    this.#unanswered = null;
    this.#isDirty = false;
    this.#shown = null;
    this.#say(null);
    this.#showButtons();
    this.#state.textContent = text;
    announce(`${this.#spec.label}: ${text}`);
  }

  /** Saves what is in the box. */
  async save() {
    const value = this.#read();
    this.#savesAgain = this.#isSaving;
    if (value === undefined || this.#isSaving) return;
    const { default: builtIn } = this.#store.get(this.#spec.key) ?? {};
    // What is emptied is removed, unless that means something else than the default.
    const isUnset = value.length === 0 && builtIn?.length === 0;
    await this.#send(isUnset ? null : value);
  }

  /** The value of the user's own file can be changed; a project's is shown beside it. */
  #editable({ layer, value, userValue, default: builtIn }) {
    return layer === "project" ? (userValue ?? builtIn) : value;
  }

  #reasonOf({ layer, source, value, userValue }) {
    const inFile = userValue === undefined ? "" : ` Your file says ${this.#words(userValue)}, which has no effect.`;
    if (layer === "environment") return `Set by the environment variable ${source}, which overrides your file. To change it here, unset the variable and restart the server.${inFile}`;
    if (layer === "flag") return `Set by the flag ${source} when the server was started.${inFile}`;
    if (layer === "project") return `The project's file ${exactString(source)} sets ${this.#words(value)} for sessions in its folder. What you set here applies elsewhere.`;
    return null;
  }

  #words(value) {
    const { kind, empty, unit, choices } = this.#spec;
    if (typeof value === "boolean") return value ? "on" : "off";
    if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) return empty ?? "empty";
    if (value === 0 && this.#spec.zero) return this.#spec.zero;
    if (kind === "bytes") return bytes(value);
    if (Array.isArray(value)) return value.map((one) => (typeof one === "string" ? exactString(one) : JSON.stringify(one))).join(", ");
    if (choices) return choices.find(([known]) => known === value)?.[1] ?? exactString(String(value));
    if (typeof value === "number") return `${value.toLocaleString("en", { maximumFractionDigits: 6, useGrouping: !this.#spec.isName })}${unit ? ` ${unit}` : ""}`;
    return exactString(String(value));
  }

  #typed() {
    if (this.control.isImmediate) {
      this.#send(this.control.read());
      return;
    }
    this.#isDirty = true;
    this.#unanswered = null;
    this.#edits += 1;
    this.#shown = null;
    this.#state.textContent = "";
    this.#showButtons();
    this.#warn();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), CHECK_AFTER);
  }

  /** A choice that gives something away says so before it is saved. */
  #warn() {
    let value;
    try {
      value = this.control.read();
    } catch {
      value = undefined;
    }
    setText(this.#warning, this.#spec.warning?.(value) ?? null);
  }

  #showButtons() {
    this.#save.hidden = !this.#isDirty;
    this.#cancel.hidden = !this.#isDirty;
    this.element.classList.toggle("dirty", this.#isDirty);
  }

  #key(event) {
    if (event.target !== this.control.input || !this.#isDirty || event.isComposing) return;
    const saves = event.key === "Enter" && (!this.control.hasLines || event.ctrlKey || event.metaKey);
    if (saves) this.save();
    else if (event.key === "Escape") this.#revert();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The value, or undefined with a word on why there is none. */
  #read() {
    try {
      return this.control.read();
    } catch (error) {
      this.#say(error.message);
      return undefined;
    }
  }

  async #check() {
    clearTimeout(this.#timer);
    const value = this.#read();
    if (value === undefined || this.#isSaving) return;
    this.#checks += 1;
    const check = this.#checks;
    try {
      await this.#store.check({ [this.#spec.key]: value });
      if (check === this.#checks && this.#isDirty) this.#say(null);
    } catch (problem) {
      // Whether the file can be written turns out when it is saved.
      if (check === this.#checks && this.#isDirty && problem.status === 400) this.#say(shortened(problem.message));
    }
  }

  #say(problem) {
    setText(this.#problem, problem);
    this.control.invalid = Boolean(problem);
  }

  #revert() {
    clearTimeout(this.#timer);
    this.#checks += 1;
    this.#isDirty = false;
    this.#unanswered = null;
    this.#shown = null;
    this.#say(null);
    this.#showButtons();
    this.show();
    this.control.input.focus();
  }

  async #send(value) {
    clearTimeout(this.#timer);
    this.#checks += 1;
    this.#isSaving = true;
    this.#unanswered = null;
    const edits = this.#edits;
    const hadFocus = this.element.contains(document.activeElement) && document.activeElement !== this.control.input;
    this.#save.disabled = true;
    this.#state.textContent = "Saving …";
    try {
      const answer = await this.#store.change({ [this.#spec.key]: value });
      if (edits === this.#edits) {
        this.#isDirty = false;
        this.#shown = null;
        this.#say(null);
        this.show();
      }
      const text = answer.needsRestart.includes(this.#spec.key) ? "Saved. Restart the server to use it." : value === null ? "Reset" : "Saved";
      this.#state.textContent = text;
      announce(`${this.#spec.label}: ${text}`);
    } catch (problem) {
      this.#state.textContent = "";
      this.#say(savingProblem(problem));
      // What was typed meanwhile is not what was sent.
      if (problem.isUnreachable && edits === this.#edits) this.#unanswered = { value };
      if (this.control.isImmediate) {
        this.#shown = null;
        this.show();
      }
    } finally {
      this.#isSaving = false;
      this.#save.disabled = false;
      this.#showButtons();
      if (hadFocus && !this.element.contains(document.activeElement)) this.control.input.focus({ preventScroll: true });
    }
    if (this.#savesAgain && this.#isDirty) await this.save();
  }
}
