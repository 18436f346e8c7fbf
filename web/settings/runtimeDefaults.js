// `[runtimes.NAME]`: for each agent, what its sessions get that choose nothing. The server says which options it has.

import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { EFFORTS, MODES } from "./catalogue.js";
import { EntryForm } from "./entryForm.js";
import { notLoaded } from "./notLoaded.js";

const OPTION = "options.";
const KINDS = { count: "number", amount: "amount", text: "text", list: "list" };

export class RuntimeDefaults {
  element = make("div", { class: "runtime-defaults-list" }, make("p", { class: "empty", text: "Loading …" }));
  #store;
  #sources;
  #shown = null;
  #open = new Set();

  constructor(store, sources) {
    this.#store = store;
    this.#sources = sources;
    store.addEventListener("change", () => this.load());
    this.load();
  }

  async load() {
    let runtimes;
    let models = [];
    try {
      [runtimes, models] = await Promise.all([this.#sources.runtimes(), this.#sources.models().catch(() => [])]);
    } catch (problem) {
      this.element.replaceChildren(notLoaded("agents", problem, () => this.load()));
      return;
    }
    const set = new Map(this.#store.entries("runtimes").map(([name, { value }]) => [name, value]));
    const shown = JSON.stringify([runtimes.map(({ name, ready, options }) => [name, ready, options]), [...set], models.length]);
    if (shown === this.#shown || this.element.querySelector(".entry-form :focus")) return;
    this.#shown = shown;
    const gone = [...set.keys()].filter((name) => !runtimes.some((runtime) => runtime.name === name));
    this.element.replaceChildren(...runtimes.map((runtime) => this.#row(runtime, set.get(runtime.name) ?? {}, models)), ...gone.map((name) => this.#row({ name, isGone: true, options: [] }, set.get(name), [])));
  }

  #row(runtime, value, models) {
    const { name, displayName, ready, isGone } = runtime;
    const word = isGone ? "No such agent" : ready ? "Ready" : "Not ready";
    const summary = make(
      "summary",
      {},
      make("span", { class: "runtime-name" }, make("b", { text: exactString(displayName ?? name) }), make("code", { class: "setting-key", text: exactString(name) })),
      make("span", { class: "runtime-set", text: summaryOf(value) }),
      make("span", { class: `state state-${ready ? "ready" : isGone ? "failed" : "closed"}` }, make("span", { class: "state-mark", "aria-hidden": "true" }), make("span", { text: word })),
    );
    const details = make("details", { class: "runtime-defaults", data: { runtime: name }, open: this.#open.has(name) }, summary);
    const build = () => {
      if (details.querySelector("form")) return;
      details.append(this.#form(runtime, value, models, details));
    };
    details.addEventListener("toggle", () => {
      if (details.open) this.#open.add(name);
      else this.#open.delete(name);
      if (details.open) build();
    });
    if (details.open) build();
    return details;
  }

  #form(runtime, value, models, details) {
    const { name, options = [], capabilities } = runtime;
    const own = models.filter((model) => model.runtime === name).map(({ id, name: title }) => ({ id, name: title }));
    const levels = capabilities?.effortLevels ?? EFFORTS;
    const fields = [
      { name: "model", label: "Model", kind: "text", suggestions: own, placeholder: "Same as for all sessions" },
      levels.length > 0 ? { name: "effort", label: "Effort", kind: "choice", choices: [["", "Same as for all sessions"], ...levels.map((level) => [level, level])] } : null,
      { name: "permission_mode", label: "Permission mode", kind: "choice", choices: [["", "Same as for all sessions"], ...MODES] },
      ...options.map(optionField),
    ].filter(Boolean);
    const form = new EntryForm(this.#store, { table: "runtimes", name, value: flat(value), fields, noun: "defaults of", pack: packed });
    form.onDone = (done) => {
      form.element.remove();
      this.#shown = null;
      if (done === null) {
        details.open = false;
        this.#open.delete(name);
      }
      details.querySelector("summary").focus();
      this.load();
    };
    return form.element;
  }
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

function summaryOf({ model, effort, permission_mode: mode, options = {} }) {
  const count = Object.keys(options).length;
  const parts = [model && `model ${exactString(model)}`, effort && `effort ${exactString(effort)}`, mode && `permissions ${exactString(mode)}`, count > 0 && plural(count, "option")].filter(Boolean);
  return parts.length > 0 ? parts.join(" · ") : "No defaults";
}
