// `[runtimes.NAME]`: for each agent, what its sessions get that choose nothing. The server says which options it has.

import { make } from "../lib/dom.js";
import { notLoaded } from "./notLoaded.js";
import { RuntimeRow, runtimePlaceholder } from "./runtimeRow.js";

/** Every server has these: Copilot in three ways, Claude Code and the demo. ACP agents come from the settings. */
const BUILT_IN = 5;

export class RuntimeDefaults {
  element = make("div", { class: "runtime-defaults-list", "aria-busy": "true" });
  #store;
  #sources;
  #runtimes = null;
  #models = [];
  /** The row of each agent, which stays while its values change: somebody may be writing in it. */
  #rows = new Map();

  constructor(store, sources) {
    this.#store = store;
    this.#sources = sources;
    store.addEventListener("change", () => {
      this.#show();
      this.load();
    });
    this.#reserve();
    this.load();
  }

  /** As much room as the agents will need: what is below them does not move when they come. */
  #reserve() {
    const configured = this.#store.entries("acp").map(([name]) => `acp:${name}`);
    const gone = this.#store.entries("runtimes").filter(([name]) => name.startsWith("acp:") && !configured.includes(name));
    const count = BUILT_IN + configured.length + gone.length;
    this.element.replaceChildren(...Array.from({ length: count }, (_, index) => runtimePlaceholder(index === 0 ? "Loading …" : null)));
  }

  async load() {
    this.#loadModels();
    try {
      this.#runtimes = await this.#sources.runtimes();
    } catch (problem) {
      // Those that were shown before are better than none.
      if (this.#runtimes === null) this.element.replaceChildren(notLoaded("agents", problem, () => this.load()));
      this.element.removeAttribute("aria-busy");
      return;
    }
    this.#show();
  }

  /** They are suggestions only, and some agents take long to list theirs. */
  async #loadModels() {
    this.#models = await this.#sources.models().catch(() => []);
    this.#suggest();
  }

  #suggest() {
    for (const [name, row] of this.#rows) row.suggest(this.#models.filter(({ runtime }) => runtime === name));
  }

  #show() {
    if (this.#runtimes === null) return;
    const set = new Map(this.#store.entries("runtimes"));
    const gone = [...set.keys()].filter((name) => !this.#runtimes.some((runtime) => runtime.name === name));
    const all = [...this.#runtimes, ...gone.map((name) => ({ name, isGone: true }))];
    const rows = new Map(all.map(({ name }) => [name, this.#rows.get(name) ?? new RuntimeRow(this.#store, name)]));
    for (const runtime of all) rows.get(runtime.name).show(runtime, set.get(runtime.name));
    this.#rows = rows;
    this.#suggest();
    this.#place([...rows.values()].map(({ element }) => element));
    this.element.removeAttribute("aria-busy");
  }

  /** What is in its place is not moved, because that would take the focus out of it. */
  #place(elements) {
    for (const child of [...this.element.children]) if (!elements.includes(child)) child.remove();
    elements.forEach((element, index) => {
      if (this.element.children[index] !== element) this.element.insertBefore(element, this.element.children[index] ?? null);
    });
  }
}
