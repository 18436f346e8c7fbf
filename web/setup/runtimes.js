// The agents: which are ready, and what is missing for the others.

import { ask } from "../lib/api.js";
import { copyFromButton } from "../lib/clipboard.js";
import { byId, make, prose } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { openLogin } from "./agentLogin.js";

const LOGIN_WORDS = {
  "logged-in": "logged in",
  "logged-out": "not logged in",
  "own-provider": "your own model",
};

export class Runtimes {
  #runtimes = [];
  #select = byId("runtime-select");

  /** Called with the name of the chosen runtime, "" for all. */
  onChoose = () => {};

  constructor() {
    this.#select.addEventListener("change", () => {
      this.#showHint();
      this.onChoose(this.#select.value);
    });
  }

  async load() {
    const place = byId("runtime-list");
    try {
      this.#runtimes = (await ask("api/runtimes")).runtimes;
    } catch (problem) {
      place.replaceChildren(make("p", { class: "field-problem", role: "alert", text: `Could not load agents: ${problem.message}` }));
      return;
    }
    const chosen = this.#select.value;
    this.#select.replaceChildren(
      make("option", { value: "", text: "All agents" }),
      ...this.#runtimes.map(({ name, ready, default: isDefault }) => make("option", { value: name, text: `${name}${ready ? "" : " – not ready"}${isDefault ? " (default)" : ""}` })),
    );
    this.#select.value = this.#runtimes.some(({ name }) => name === chosen) ? chosen : "";
    this.#showHint();
    place.replaceChildren(make("ul", { class: "runtime-rows" }, ...this.#runtimes.map(row)));
  }

  #showHint() {
    const runtime = this.#runtimes.find(({ name }) => name === this.#select.value);
    const hint = byId("runtime-hint");
    hint.hidden = !runtime || runtime.ready;
    hint.replaceChildren(...(runtime ? prose(runtime.hint) : []));
  }
}

function row({ name, ready, hint, default: isDefault, login, program, install }) {
  const mark = make("span", { class: `state state-${ready ? "ready" : "waiting"}` }, make("span", { class: "state-mark", "aria-hidden": "true" }), make("span", { class: "state-word", text: ready ? "Ready" : "Not ready" }));
  const facts = [isDefault && "default", program && [program.version, program.path].filter(Boolean).join(" · "), loginFact(login)].filter(Boolean);
  const body = make("div", { class: "runtime-body" }, make("p", { class: "runtime-hint" }, ...prose(hint)));
  if (facts.length > 0) body.append(make("p", { class: "runtime-facts", text: facts.join(" · "), title: program?.source ?? null }));
  const command = typeof install === "string" ? install : install?.command;
  if (command) body.append(commandLine(command));
  const actions = make("span", { class: "runtime-actions" });
  if (login?.canLogIn && login.state !== "logged-in") actions.append(make("button", { type: "button", text: "Log in", on: { click: () => openLogin(name) } }));
  return make("li", { class: "runtime-row", data: { runtime: name } }, mark, make("b", { class: "runtime-name", text: name }), body, actions);
}

function loginFact(login) {
  const word = LOGIN_WORDS[login?.state];
  return word && login.who ? `${word} as ${login.who}` : word;
}

function commandLine(command) {
  const copy = make("button", { type: "button", class: "quiet-button icon-button", "aria-label": `Copy ${command}`, title: "Copy" }, icon("copy"));
  copy.addEventListener("click", () => copyFromButton(copy, command));
  return make("p", { class: "command-line" }, make("code", { text: command }), copy);
}
