// "More": what can be chosen for a session beside its agent, model and folder. The choices of the last time are kept, one
// set for each connection.

import { byId, make, setText } from "../lib/dom.js";
import { catalogue } from "./agentCatalogue.js";
import { labelled, nextId, optionField } from "./optionField.js";
import { PermissionField } from "./permissionField.js";
import { remember, remembered } from "./remembered.js";

const KEPT = "options";
const CONNECTIONS = "connections";
const IS_OPEN = "moreIsOpen";
/** These come last: they are wide. */
const WIDE = ["list", "mcp-servers"];

const button = byId("more-options-button");
const panel = byId("start-options");

export class StartOptions {
  #agent = null;
  #runtime = null;
  #described = "";
  #connections = "";
  #effort = null;
  #permission = null;
  #systemPrompt = null;
  #options = new Map();
  /** Called when another connection is chosen, and when a choice changes which models are possible. */
  onChange = () => {};

  constructor() {
    button.addEventListener("click", () => this.#open(panel.hidden));
    byId("reset-options-button").addEventListener("click", () => this.#reset());
    byId("connection-select").addEventListener("change", () => this.#connect(byId("connection-select").value));
    this.#open(remembered(IS_OPEN, false) === true);
  }

  /** The runtime that a session of an agent gets: the connection of the last time, or the agent's default. */
  setAgent(agent) {
    this.#agent = agent;
    const kept = remembered(CONNECTIONS, {})[agent?.id];
    const names = agent?.runtimes.map(({ name }) => name) ?? [];
    const ready = agent?.runtimes.filter((runtime) => runtime.ready) ?? [];
    const usual = ready.find((runtime) => runtime.default) ?? ready[0] ?? agent?.runtimes[0];
    this.#show(names.includes(kept) ? catalogue.runtime(kept) : usual);
  }

  get runtime() {
    return this.#runtime;
  }

  /** Whether the session's own provider makes any model name possible. */
  get takesAnyModel() {
    return this.#options.get("provider")?.field.value !== undefined;
  }

  /** What a new session is asked for, as the API has it. */
  get body() {
    const body = { effort: this.#effort?.value || undefined, permissionMode: this.#permission?.value, systemPrompt: this.#systemPrompt?.value.trim() || undefined };
    const options = this.#optionValues((field) => field.value);
    if (Object.keys(options).length > 0) body.options = options;
    return body;
  }

  /** The first field that cannot be used: `{ text, focus }`, or null. */
  get problem() {
    const field = [...this.#options.values()].map((one) => one.field).find((one) => one.problem);
    return field ? { text: field.problem, focus: () => this.#focus(field) } : null;
  }

  say(text) {
    setText(byId("options-problem"), text);
    if (text) this.#open(true);
  }

  #focus(field) {
    this.#open(true);
    field.focus();
  }

  #open(isOpen) {
    panel.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
    if (remembered(IS_OPEN, false) !== isOpen) remember(IS_OPEN, isOpen);
  }

  #connect(name) {
    remember(CONNECTIONS, { ...remembered(CONNECTIONS, {}), [this.#agent.id]: name });
    this.#show(catalogue.runtime(name));
    this.onChange();
  }

  #show(runtime) {
    this.#runtime = runtime ?? null;
    this.#showConnections();
    const described = JSON.stringify([runtime?.name, runtime?.options, runtime?.capabilities, runtime && catalogue.defaultsOf(runtime.name)]);
    // What is described as before keeps what is written in it.
    if (described === this.#described) return;
    this.#described = described;
    this.#build();
  }

  #showConnections() {
    const runtimes = this.#agent?.runtimes ?? [];
    const key = JSON.stringify([this.#runtime?.name, runtimes.map(({ name, ready }) => [name, ready])]);
    if (key === this.#connections) return;
    this.#connections = key;
    byId("connection-option").hidden = runtimes.length < 2;
    byId("options-kept").textContent = `This browser remembers these choices for each ${runtimes.length < 2 ? "agent" : "connection"}.`;
    const label = ({ name, connection, ready }) => `${connection?.name ?? name}${ready ? "" : " – not ready"}`;
    byId("connection-select").replaceChildren(...runtimes.map((runtime) => make("option", { value: runtime.name, text: label(runtime) })));
    byId("connection-select").value = this.#runtime?.name ?? "";
    byId("connection-hint").textContent = this.#runtime?.connection?.hint ?? "";
  }

  #build() {
    const { name, options = [], capabilities = {} } = this.#runtime ?? {};
    const kept = remembered(KEPT, {})[name] ?? {};
    const usual = catalogue.defaultsOf(name);
    const changed = () => this.#changed();
    const configured = (option) => ({ ...option, default: usual.options[option.name] ?? option.default });
    this.#options = new Map(options.map(configured).map((option) => [option.name, { option, field: optionField(option, kept.options?.[option.name], changed) }]).filter(([, { field }]) => field));
    this.#effort = capabilities.effortLevels?.length > 0 ? this.#effortSelect(capabilities.effortLevels, kept.effort, usual.effort) : null;
    this.#permission = this.#runtime ? new PermissionField(this.#runtime, kept.permissionMode, changed) : null;
    this.#systemPrompt = capabilities.systemPrompt && capabilities.systemPrompt !== "none" ? this.#systemPromptArea(kept.systemPrompt) : null;
    const fields = [...this.#options.values()];
    const ofKind = (test) => fields.filter(({ option }) => test(option.kind)).map(({ field }) => field.element);
    byId("choice-options").replaceChildren(...[this.#effort?.closest(".option"), this.#permission?.element].filter(Boolean), ...ofKind((kind) => kind !== "switch" && !WIDE.includes(kind)));
    byId("switch-options").replaceChildren(...ofKind((kind) => kind === "switch"));
    byId("wide-options").replaceChildren(...[this.#systemPrompt?.closest(".option")].filter(Boolean), ...ofKind((kind) => WIDE.includes(kind)));
    this.#showSummary();
  }

  #effortSelect(levels, value, usual) {
    const id = nextId();
    const select = make("select", { id, "aria-describedby": `${id}-hint`, on: { change: () => this.#changed() } }, make("option", { value: "", text: usual ? `Default: ${usual}` : "Default" }), ...levels.map((level) => make("option", { value: level, text: level })));
    select.value = levels.includes(value) ? value : "";
    labelled({ name: "effort", label: "Effort", hint: "How much the model thinks. Not every model supports every level." }, id, select);
    return select;
  }

  #systemPromptArea(value) {
    const id = nextId();
    const area = make("textarea", { id, rows: 2, "aria-describedby": `${id}-hint`, on: { input: () => this.#changed() } });
    area.value = typeof value === "string" ? value : "";
    labelled({ name: "systemPrompt", label: "System prompt", hint: "Instructions for the whole session, in addition to the agent's own." }, id, area);
    return area;
  }

  #optionValues(read) {
    const values = [...this.#options].map(([name, { field }]) => [name, read(field)]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  #changed() {
    this.say("");
    const { effort, permissionMode, systemPrompt } = this.body;
    const options = this.#optionValues((field) => ("keptValue" in field ? field.keptValue : field.value));
    remember(KEPT, { ...remembered(KEPT, {}), [this.#runtime.name]: { effort, permissionMode, systemPrompt, options } });
    this.#showSummary();
    this.onChange();
  }

  #reset() {
    remember(KEPT, { ...remembered(KEPT, {}), [this.#runtime?.name]: {} });
    this.say("");
    this.#build();
    this.onChange();
  }

  /** What differs from the defaults is said beside the button, because it holds for the next session too. */
  #showSummary() {
    const { effort, systemPrompt, options = {} } = this.body;
    const isMain = this.#runtime?.name === this.#agent?.id;
    const facts = [!isMain && this.#runtime?.connection?.name, effort && `Effort ${effort}`, systemPrompt && "System prompt", ...Object.entries(options).map(([name, value]) => this.#fact(name, value))].filter(Boolean);
    const permission = this.#permission?.fact;
    const risky = permission && make("b", { class: this.#permission.isRisky ? "field-warning" : "", text: permission });
    byId("more-summary").replaceChildren(...(risky ? [risky, facts.length > 0 ? " · " : ""] : []), facts.join(" · "));
    byId("more-summary").title = [permission, ...facts].filter(Boolean).join(" · ");
    byId("reset-options-button").disabled = facts.length === (isMain ? 0 : 1) && !this.#permission?.value;
  }

  #fact(name, value) {
    const { option } = this.#options.get(name);
    if (option.kind === "switch") return value ? option.label : `${option.label}: off`;
    if (option.kind === "mcp-servers" || option.kind === "list") return option.label;
    return `${option.label}: ${option.choices?.find((choice) => choice.value === value)?.label ?? value}`;
  }
}
