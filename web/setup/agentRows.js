// The agents of this machine, one row each: whether they are ready, and what is missing.

import { copyFromButton } from "../lib/clipboard.js";
import { byId, make, prose } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { catalogue } from "./agentCatalogue.js";
import { openLogin } from "./agentLogin.js";
import { missingFor } from "./missing.js";

const LOGIN_WORDS = {
  "logged-in": "logged in",
  "logged-out": "not logged in",
  "own-provider": "your own model",
};

const place = byId("runtime-list");

export class AgentRows {
  #shown = "";
  onCheck = () => {};

  constructor() {
    catalogue.addEventListener("change", () => this.show());
    this.show();
  }

  show() {
    const { agents, agentProblem } = catalogue;
    const ready = agents.filter(({ isReady }) => isReady).length;
    // Asking the agents takes seconds when none of them has run since the machine was started.
    const isLoading = agents.length === 0 && !agentProblem;
    byId("agents-summary").textContent = isLoading ? "checking …" : agents.length === 0 ? "" : `${ready} of ${plural(agents.length, "agent")} ready`;
    const key = JSON.stringify([agents, agentProblem?.message]);
    if (key === this.#shown) return;
    this.#shown = key;
    const focused = document.activeElement?.closest?.(".runtime-row")?.dataset.runtime;
    const problem = agentProblem && make("p", { class: "field-problem", role: "alert", text: `Could not load agents: ${agentProblem.message}` });
    const loading = isLoading && make("p", { class: "empty", text: "Checking which agents are installed and logged in …" });
    const rows = !isLoading && make("ul", { class: "runtime-rows" }, ...agents.map((agent) => this.#row(agent)));
    place.replaceChildren(...[problem, loading, rows].filter(Boolean));
    if (focused) place.querySelector(`[data-runtime="${CSS.escape(focused)}"] button`)?.focus({ preventScroll: true });
  }

  /** Brings the rows into view, with the focus on the first thing to do. */
  reveal() {
    byId("agents").open = true;
    byId("agents").scrollIntoView({ block: "nearest" });
    (place.querySelector(".runtime-actions button") ?? byId("agents").querySelector("summary")).focus();
  }

  #row({ id, title, runtimes, isReady, isDefault }) {
    // The best connection speaks for the agent.
    const main = runtimes.find(({ ready }) => ready) ?? runtimes[0];
    const mark = make("span", { class: `state state-${isReady ? "succeeded" : "closed"}` }, make("span", { class: "state-mark", "aria-hidden": "true" }), make("span", { class: "state-word", text: isReady ? "Ready" : "Not ready" }));
    const missing = missingFor(main);
    const body = make("div", { class: "runtime-body" }, make("p", { class: "runtime-hint" }, ...prose(missing ? missing.text : main.hint)));
    const { program, login } = main;
    const facts = [isDefault && "default", program && [program.version, program.path].filter(Boolean).join(" · "), loginFact(login)].filter(Boolean);
    if (facts.length > 0) body.append(make("p", { class: "runtime-facts", text: facts.join(" · "), title: program?.source ?? null }));
    // Another connection may need more than the best one.
    if (isReady) body.append(...differences(runtimes.filter(({ ready }) => !ready)));
    const command = typeof main.install === "string" ? main.install : main.install?.command;
    if (command) body.append(commandLine(command));
    return make("li", { class: "runtime-row", data: { runtime: id } }, mark, make("b", { class: "runtime-name", text: title, title: runtimes.map(({ name }) => name).join(", ") }), body, this.#actions(main, missing));
  }

  #actions(runtime, missing) {
    const actions = make("span", { class: "runtime-actions" });
    const add = (text, run) => actions.append(make("button", { type: "button", text, "aria-label": `${text}: ${runtime.title}`, on: { click: run } }));
    if (missing) add(missing.action, () => (missing.run ? missing.run() : this.onCheck()));
    else if (runtime.login?.canLogIn && runtime.login.state === "logged-out") add("Log in", () => openLogin(runtime.name, runtime.title));
    return actions;
  }
}

function differences(runtimes) {
  const byHint = Map.groupBy(runtimes, ({ hint }) => hint);
  return [...byHint].map(([hint, some]) => make("p", { class: "runtime-facts" }, make("b", { text: `${some.map(({ connection, name }) => connection?.name ?? name).join(", ")}: ` }), ...prose(hint)));
}

function loginFact(login) {
  const word = LOGIN_WORDS[login?.state];
  return word && login.who ? `${word} as ${login.who}` : word;
}

function commandLine(command) {
  const copy = make("button", { type: "button", class: "quiet-button icon-button", "aria-label": `Copy ${command}`, title: "Copy" }, icon("copy"));
  copy.addEventListener("click", () => copyFromButton(copy, command));
  return make("p", { class: "command-line" }, make("span", { text: "In a terminal:" }), make("code", { text: command }), copy);
}
