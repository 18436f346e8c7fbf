// One agent of `[runtimes.NAME]`: a line with what is set, and the form below it. The form is there from the beginning, so
// that a search finds its fields.

import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { EFFORTS } from "./catalogue.js";
import { EntryForm } from "./entryForm.js";
import { modesOf } from "../lib/permissionModes.js";
import { layerBadge } from "./settingField.js";

const OPTION = "options.";
const KINDS = { count: "number", amount: "amount", text: "text", list: "list" };

export class RuntimeRow {
  element;
  #store;
  #summary = make("summary");
  #form = null;
  /** The fields that the form was made for. */
  #made = null;
  #setting;
  #models = [];
  #shown = null;

  constructor(store, name) {
    this.#store = store;
    this.element = make("details", { class: "runtime-defaults", data: { runtime: name } }, this.#summary);
  }

  /** `runtime` as the server lists it; `setting` is the one of its defaults, undefined if there are none. */
  show(runtime, setting) {
    const fields = fieldsOf(runtime);
    const made = JSON.stringify(fields);
    const shown = JSON.stringify([runtime.displayName, runtime.ready, setting, made]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#setting = setting;
    this.#summary.replaceChildren(...summaryParts(runtime, setting));
    if (made !== this.#made && !this.#form?.isDirty) this.#makeForm(runtime.name, fields, made);
    else if (!this.#form.isDirty) this.#write();
  }

  /** The models of the agent, as suggestions. */
  suggest(models) {
    this.#models = models.map(({ id, name }) => ({ id, name }));
    this.#form.suggest("model", this.#models);
  }

  #makeForm(name, fields, made) {
    this.#form?.element.remove();
    this.#made = made;
    this.#form = new EntryForm(this.#store, { table: "runtimes", name, value: {}, fields, noun: "defaults of", pack: packed });
    this.#form.suggest("model", this.#models);
    this.#write();
    this.#form.onDone = (done) => {
      // What was typed meanwhile is not saved yet.
      if (done !== null && this.#form.isDirty) return;
      this.#write();
      if (done !== null) {
        this.#form.say("Saved");
        return;
      }
      this.element.open = false;
      this.#summary.focus();
    };
    this.element.append(this.#form.element);
  }

  #write() {
    this.#form.write(flat(this.#setting?.value ?? {}), this.#setting);
  }
}

/** A line as high as that of an agent. */
export function runtimePlaceholder(text) {
  const space = "\u00a0";
  const words = text ? make("span", { class: "runtime-loading", text }) : make("b", { text: space });
  return make("div", { class: "runtime-placeholder" }, make("span", { class: "runtime-name" }, words, make("code", { class: "setting-key", text: space })), make("span", { class: "runtime-value", text: space }));
}

function summaryParts({ name, displayName, ready, isGone, capabilities }, setting) {
  const word = isGone ? "No such agent" : ready ? "Ready" : "Not ready";
  return [
    make("span", { class: "runtime-name" }, make("b", { text: exactString(displayName ?? name) }), make("code", { class: "setting-key", text: exactString(name) })),
    make("span", { class: "runtime-value" }, make("span", { class: "runtime-set", text: summaryOf(setting?.value ?? {}, capabilities) }), setting ? layerBadge(setting) : null),
    make("span", { class: `state state-${ready ? "ready" : isGone ? "failed" : "closed"}` }, make("span", { class: "state-mark", "aria-hidden": "true" }), make("span", { text: word })),
  ];
}

function fieldsOf({ options = [], capabilities }) {
  const levels = capabilities?.effortLevels ?? EFFORTS;
  return [
    { name: "model", label: "Model", kind: "text", suggestions: [], placeholder: "Same as for all sessions" },
    levels.length > 0 ? { name: "effort", label: "Effort", kind: "choice", choices: [["", "Same as for all sessions"], ...levels.map((level) => [level, level])] } : null,
    { name: "permission_mode", label: "Permission mode", kind: "choice", choices: [["", "Same as for all sessions"], ...modesOf(capabilities)] },
    ...options.map(optionField),
  ].filter(Boolean);
}

function optionField({ name, kind, label, hint, default: builtIn, choices = [] }) {
  const field = { name: OPTION + name, label, about: hint };
  if (kind === "switch") return { ...field, kind: "choice", choices: [["", `Default: ${builtIn ? "on" : "off"}`], ["true", "On"], ["false", "Off"]] };
  if (kind === "choice") return { ...field, kind: "choice", choices: [["", "Agent's default"], ...choices.map(({ value, label: text }) => [value, text])] };
  // Providers and MCP servers have sections of their own.
  return KINDS[kind] ? { ...field, kind: KINDS[kind], suggestions: kind === "text" ? choices.map(({ value, label: text }) => ({ id: value, name: text })) : undefined } : null;
}

function camelCase(name) {
  return name.replace(/_+(\w)/g, (_, letter) => letter.toUpperCase());
}

function snakeCase(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The value of the configuration as the form has it: options beside the rest, switches as words. */
function flat({ options = {}, ...rest }) {
  const word = (value) => (typeof value === "boolean" ? String(value) : value);
  return { ...rest, ...Object.fromEntries(Object.entries(options).map(([name, value]) => [OPTION + camelCase(name), word(value)])) };
}

/** The other way round; null if nothing is set. */
function packed(form) {
  const entries = Object.entries(form);
  const value = (text) => (text === "true" ? true : text === "false" ? false : text);
  const options = entries.filter(([name]) => name.startsWith(OPTION)).map(([name, text]) => [snakeCase(name.slice(OPTION.length)), value(text)]);
  const rest = entries.filter(([name]) => !name.startsWith(OPTION));
  if (entries.length === 0) return null;
  return { ...Object.fromEntries(rest), ...(options.length > 0 ? { options: Object.fromEntries(options) } : {}) };
}

function summaryOf({ model, effort, permission_mode: mode, options = {} }, capabilities) {
  const modeName = new Map(modesOf(capabilities)).get(mode) ?? mode;
  const count = Object.keys(options).length;
  const parts = [model && `model ${exactString(model)}`, effort && `effort ${exactString(effort)}`, mode && exactString(modeName), count > 0 && plural(count, "option")].filter(Boolean);
  return parts.length > 0 ? parts.join(" · ") : "No defaults";
}
