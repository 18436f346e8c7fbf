// The switches beside the request: agent, model, effort and permission mode of the session. A session keeps its agent, so
// another one is for a new session, which the home page starts.

import { goTo, setupAddress } from "../lib/address.js";
import { agentsOf } from "../lib/agents.js";
import { announce } from "../lib/announcer.js";
import { ask, sessionPath } from "../lib/api.js";
import { chooseFromOpenList } from "../lib/closedList.js";
import { byId, make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { modesOf } from "../lib/permissionModes.js";
import { confirmMode } from "../session/modeChange.js";
import { chooseAgent } from "../setup/agentSelect.js";
import { attachedFiles } from "./attachedFiles.js";
import { addToPromptBox, sayFilesStay } from "../setup/promptBox.js";

const OTHER = "\u0000other";
const box = byId("composer-switches");

export class Switches {
  #view;
  #models = [];
  #runtimes = [];
  #parts = null;
  #shown = "";
  /** A model is being typed that is not in the list. */
  #typing = false;

  constructor(view) {
    this.#view = view;
    view.addEventListener("change", () => this.#show(), { signal: view.signal });
    view.signal.addEventListener("abort", () => this.#parts?.forEach((part) => part.remove()));
    // From a failed turn. Where the switch cannot be used or seen, the session's details are opened instead.
    document.addEventListener("flightdeck:change-model", (event) => this.#showModels(event), { signal: view.signal });
    this.#show();
    this.#loadModels();
  }

  /** All runtimes: what the session's own can do, and which agents there are beside it. */
  setRuntimes(runtimes) {
    this.#runtimes = runtimes;
    this.#shown = "";
    this.#show();
  }

  get #runtime() {
    return this.#runtimes.find(({ name }) => name === this.#view.details.runtime);
  }

  get #capabilities() {
    return this.#runtime?.capabilities ?? {};
  }

  #showModels(event) {
    const model = document.getElementById("composer-model");
    if (!model || model.disabled || model.checkVisibility?.() === false) return;
    event.preventDefault();
    model.focus();
    try {
      model.showPicker?.();
    } catch {
      // It has the focus, and the keys choose.
    }
  }

  async #loadModels() {
    try {
      const { models } = await ask("api/models", { signal: this.#view.signal });
      const { runtime } = this.#view.details;
      this.#models = models.filter((model) => model.runtime === runtime).toSorted((one, other) => one.name.localeCompare(other.name));
      this.#shown = "";
      this.#show();
    } catch {
      // The model is shown, and another can be typed.
    }
  }

  #show() {
    const { runtime, agentName, demo, model, effort, permissionMode, state } = this.#view.details ?? {};
    if (!runtime || this.#typing) return;
    const now = JSON.stringify([runtime, agentName, demo, model, effort, permissionMode, state === "closed"]);
    if (now === this.#shown) return;
    this.#shown = now;
    const focused = document.activeElement?.id;
    const { effortLevels = [], modelSwitch = false } = this.#capabilities;
    const isClosed = state === "closed";
    const efforts = effort && !effortLevels.includes(effort) ? [effort, ...effortLevels] : effortLevels;
    const parts = [
      this.#agent(exactString(`${agentName ?? runtime}${demo ? " (no AI)" : ""}`), exactString(`Agent: ${agentName ?? runtime} (${runtime})`)),
      labelled("Model", this.#modelSelect(model, isClosed || !modelSwitch)),
      efforts.length > 0 && labelled("Effort", this.#select("composer-effort", [...(effort ? [] : [["", "Default effort"]]), ...efforts.map((one) => [one, one])], effort ?? "", (value) => value && { effort: value }, isClosed || !modelSwitch)),
      labelled("Permissions", this.#select("composer-mode", modesOf(this.#capabilities), permissionMode, (value) => this.#mode(value), isClosed)),
    ].filter(Boolean);
    this.#parts?.forEach((part) => part.remove());
    box.prepend(...parts);
    this.#parts = parts;
    if (focused?.startsWith("composer-")) document.getElementById(focused)?.focus();
  }

  /** The agents that a new session could have instead. */
  get otherAgents() {
    return agentsOf(this.#runtimes).filter(({ id, isReady }) => isReady && id !== this.#runtime?.agent);
  }

  #agent(name, title) {
    const others = this.otherAgents;
    if (others.length === 0) return labelled("Agent", make("span", { class: "switch-value", text: name, title }), "span", "agent-switch");
    const group = make("optgroup", { label: "In a new session" }, ...others.map((agent) => make("option", { value: agent.id, text: exactString(agent.title) })));
    const select = make("select", { id: "composer-agent", title }, make("option", { value: "", text: name }), group);
    chooseFromOpenList(select);
    select.addEventListener("change", () => {
      const agent = others.find(({ id }) => id === select.value);
      select.value = "";
      if (agent) this.startWith(agent);
    });
    return labelled("Agent", select, "label", "agent-switch");
  }

  /** Opens the start form with one of these agents. What is not sent stays here too, so that nothing is lost on the way. */
  startWith({ id, title }) {
    chooseAgent(id);
    addToPromptBox(this.#view.composer.text, this.#view.details.workingDirectory);
    goTo(setupAddress());
    sayFilesStay(attachedFiles.of(this.#view.sessionId));
    byId("prompt-box").focus();
    announce(`A new session with ${exactString(title)}`);
  }

  #modelSelect(model, disabled) {
    const options = this.#models.map(({ id, name }) => [id, name]);
    if (!options.some(([id]) => id === model)) options.unshift([model, model || "Chosen by the agent"]);
    const select = this.#select("composer-model", [...options, [OTHER, "Other …"]], model, (value) => (value === OTHER ? this.#typeModel(select, model) : { model: value }), disabled);
    if (disabled && !this.#capabilities.modelSwitch) select.title = "This agent can't switch models in a running session. Start a new session.";
    return select;
  }

  /** A model that is not listed: any name. */
  #typeModel(select, model) {
    this.#typing = true;
    const input = make("input", { type: "text", id: "composer-model", value: model, "aria-label": "Model", spellcheck: "false", autocomplete: "off", autocapitalize: "off" });
    const done = (value) => {
      if (!this.#typing) return;
      this.#typing = false;
      this.#shown = "";
      if (value && value !== model) this.#change({ model: value });
      this.#show();
      byId("composer-model").focus();
    };
    input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter") done(input.value.trim());
      else if (event.key === "Escape") done("");
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    input.addEventListener("blur", () => done(input.value.trim()));
    select.replaceWith(input);
    input.focus();
    input.select();
    return null;
  }

  #select(id, options, value, change, disabled) {
    const select = make("select", { id, disabled }, ...options.map(([key, text]) => make("option", { value: key, text: exactString(text), selected: key === value })));
    select.title = exactString(options.find(([key]) => key === value)?.[1] ?? "");
    chooseFromOpenList(select);
    select.addEventListener("change", async () => {
      const json = await change(select.value);
      if (json) this.#change(json);
    });
    return select;
  }

  /** What the mode's list changes; nothing if the person thinks better of it. */
  async #mode(value) {
    const { permissionMode } = this.#view.details;
    if (await confirmMode(value, this.#view.renderer.openRequests)) return { permissionMode: value };
    byId("composer-mode").value = permissionMode;
    return null;
  }

  async #change(json) {
    this.#view.composer.say("");
    try {
      this.#view.update(await ask(sessionPath(this.#view.sessionId), { method: "PATCH", json }));
    } catch (problem) {
      this.#view.composer.say(`Could not change the setting: ${problem.message}`);
    }
    // Whatever was refused is shown as it is.
    this.#shown = "";
    this.#show();
  }
}

function labelled(name, control, tag = "label", kind = "") {
  return make(tag, { class: `switch ${kind}`.trim() }, make("span", { class: "switch-name", text: name }), control);
}
