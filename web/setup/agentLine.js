// One line below the form: what is missing for the chosen agent, and one button that gets it.

import { byId, make, prose } from "../lib/dom.js";
import { catalogue } from "./agentCatalogue.js";
import { missingFor } from "./missing.js";

const line = byId("agent-line");

export class AgentLine {
  #shown = "";
  /** Called when only asking the agents again can help. */
  onCheck = () => {};
  /** Called to show all agents. */
  onShowAgents = () => {};

  /** Shows what is missing for a runtime, or nothing. */
  show(runtime) {
    const found = this.#find(runtime);
    const key = JSON.stringify([runtime?.name, found?.text, found?.action]);
    // Rebuilding the same line would only move the focus away.
    if (key === this.#shown) return;
    this.#shown = key;
    line.hidden = !found;
    line.classList.toggle("agent-line-quiet", Boolean(found?.isQuiet));
    if (!found) return;
    const button = make("button", { type: "button", text: found.action, on: { click: () => (found.run ? found.run() : this.onCheck()) } });
    line.replaceChildren(make("span", { class: "agent-line-text" }, ...prose(found.text)), button);
  }

  #find(runtime) {
    if (!runtime) return catalogue.agentProblem ? { text: `Could not load agents: ${catalogue.agentProblem.message}`, action: "Check again", run: null } : null;
    const others = catalogue.agents.filter(({ isDemo }) => !isDemo);
    if (runtime.capabilities.demo && others.length > 0 && others.every(({ isReady }) => !isReady)) {
      return { text: "Only the demo agent is ready: scripted answers, no AI.", action: "Set up an agent", run: () => this.onShowAgents(), isQuiet: true };
    }
    return missingFor(runtime);
  }
}
