// Which agent a session gets: one entry for each, however many connections it has.

import { byId, make } from "../lib/dom.js";
import { catalogue } from "./agentCatalogue.js";
import { remember, remembered } from "./remembered.js";

const CHOSEN = "agent";
const select = byId("runtime-select");

/** Chooses the agent of the next session. The form may not have been shown yet. */
export function chooseAgent(id) {
  remember(CHOSEN, id);
  if (![...select.options].some(({ value }) => value === id)) return;
  select.value = id;
  select.dispatchEvent(new Event("change"));
}

export class AgentSelect {
  #configuredModel = "";
  /** Whether the person has chosen on this page; only then a better default does not replace it. */
  #isChosen = false;
  #shown = "";
  onChoose = () => {};

  constructor() {
    select.addEventListener("change", () => {
      this.#isChosen = true;
      remember(CHOSEN, select.value);
      this.onChoose();
    });
  }

  /** The model of the configuration; its agent is the default. */
  set configuredModel(listedId) {
    this.#configuredModel = listedId ?? "";
    this.show();
  }

  /** The chosen agent, or null while there is none. */
  get agent() {
    return catalogue.agents.find(({ id }) => id === select.value) ?? null;
  }

  show() {
    const { agents } = catalogue;
    if (agents.length === 0) return;
    const before = select.value;
    const key = JSON.stringify(agents.map(({ id, title, isReady }) => [id, title, isReady]));
    if (key !== this.#shown) {
      const options = (some) => some.map(({ id, title }) => make("option", { value: id, text: title }));
      const missing = agents.filter(({ isReady }) => !isReady);
      const group = missing.length > 0 ? [make("optgroup", { label: "Not ready" }, ...options(missing))] : [];
      select.replaceChildren(...options(agents.filter(({ isReady }) => isReady)), ...group);
      this.#shown = key;
    }
    const wishes = [this.#isChosen && before, remembered(CHOSEN, ""), this.#agentOfConfiguredModel(), agents.find(({ isDefault }) => isDefault)?.id, agents.find(({ isReady }) => isReady)?.id];
    select.value = wishes.find((id) => id && agents.some((agent) => agent.id === id)) ?? agents[0].id;
    select.disabled = false;
  }

  #agentOfConfiguredModel() {
    const runtime = this.#configuredModel && catalogue.runtimeOfModel(this.#configuredModel);
    return runtime && catalogue.runtime(runtime)?.agent;
  }
}
