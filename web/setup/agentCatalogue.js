// The agents with their connections and models. What the last visit saw is there at once, and is corrected when the server
// has answered.

import { agentsOf } from "../lib/agents.js";
import { ask } from "../lib/api.js";
import { remember, remembered } from "./remembered.js";

const CACHE = "catalogue";
const NOTHING = { runtimes: [], models: [], lists: [], permissionMode: null };

class AgentCatalogue extends EventTarget {
  #known = usable(remembered(CACHE, NOTHING));
  /** Whether models can be shown, from this visit or the last. */
  hasModels = this.#known.models.length > 0 || this.#known.lists.length > 0;
  /** Why the agents or the models could not be loaded; null if they were. */
  agentProblem = null;
  modelProblem = null;

  /** Loads everything; with `refresh`, the server asks the agents again. */
  async load({ refresh = false } = {}) {
    await Promise.all([this.#loadRuntimes(), this.#loadModels(refresh)]);
    remember(CACHE, this.#known);
  }

  /** One entry for each agent (see lib/agents.js). */
  get agents() {
    return agentsOf(this.#known.runtimes);
  }

  runtime(name) {
    return this.#known.runtimes.find((runtime) => runtime.name === name);
  }

  /** The models of a runtime, sorted by name. */
  modelsOf(name) {
    const own = this.#known.models.filter(({ runtime }) => runtime === name);
    return own.toSorted((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }) || one.listedId.localeCompare(other.listedId));
  }

  /**
   * Whether a runtime takes names that are not in its list, whether it chooses a model itself, and the model of a session
   * that names none, if that is known.
   */
  listOf(name) {
    return this.#known.lists.find(({ runtime }) => runtime === name) ?? { takesAnyName: this.modelsOf(name).length === 0, agentChooses: false };
  }

  /** The runtime whose model has this id in the list of all agents. */
  runtimeOfModel(listedId) {
    return this.#known.models.find((model) => model.listedId === listedId)?.runtime;
  }

  /** What a session of a runtime gets that chooses nothing: `{ effort, permissionMode, options }`. Its model is in its list. */
  defaultsOf(name) {
    const { effort = null, permissionMode = this.#known.permissionMode, options = {} } = this.runtime(name)?.defaults ?? {};
    return { effort, permissionMode, options };
  }

  async #loadRuntimes() {
    try {
      const { runtimes, permissionMode } = await ask("api/runtimes");
      this.#known = usable({ ...this.#known, runtimes, permissionMode });
      this.agentProblem = null;
    } catch (problem) {
      this.agentProblem = problem;
    }
    this.#changed();
  }

  async #loadModels(refresh) {
    try {
      const { models, lists } = await ask(`api/models${refresh ? "?refresh=true" : ""}`);
      this.#known = usable({ ...this.#known, models, lists });
      this.modelProblem = null;
      this.hasModels = true;
    } catch (problem) {
      this.modelProblem = problem;
    }
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/** Another version of the page may have kept it: what is missing gets a value, and what is no list is dropped. */
function usable(known) {
  const list = (value) => (Array.isArray(value) ? value : []);
  return {
    permissionMode: known?.permissionMode ?? null,
    lists: list(known?.lists),
    models: list(known?.models).map((model) => ({ ...model, listedId: model.listedId ?? model.id })),
    runtimes: list(known?.runtimes).map((runtime) => ({ ...runtime, agent: runtime.agent ?? runtime.name, title: runtime.title ?? runtime.name, options: list(runtime.options), capabilities: runtime.capabilities ?? {} })),
  };
}

export const catalogue = new AgentCatalogue();
