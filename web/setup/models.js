// The model box: names shown, ids used, sorted by name.

import { ask } from "../lib/api.js";
import { byId, make, prose, setText } from "../lib/dom.js";
import { openLogin } from "./agentLogin.js";

const select = byId("model-select");

export class Models {
  #models = [];
  #notes = [];
  #runtime = "";
  #default = "";
  #defaultRuntime;

  /** Loads the models; with `refresh`, the server asks the agents again. */
  async load({ refresh = false, preferred = "" } = {}) {
    this.#default = preferred || this.#default;
    setText(byId("model-problem"), "");
    try {
      const { models, notes } = await askForModels(refresh);
      // The server names the models of its default runtime first.
      this.#defaultRuntime = models[0]?.runtime;
      this.#models = models.filter(({ hidden }) => !hidden).toSorted((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }) || one.listedId.localeCompare(other.listedId));
      this.#notes = notes ?? [];
      this.#show();
    } catch (problem) {
      setText(byId("model-problem"), `Could not load models: ${problem.message} Press Refresh to retry.`);
      if (this.#models.length === 0) select.replaceChildren(make("option", { value: "", text: "No models" }));
    }
    return this.#models.length > 0;
  }

  /** Shows only the models of one runtime; "" for all. */
  setRuntime(name) {
    this.#runtime = name;
    this.#show();
  }

  get chosen() {
    return select.value;
  }

  #show() {
    const before = select.disabled ? "" : select.value;
    const shown = this.#models.filter(({ runtime }) => !this.#runtime || runtime === this.#runtime);
    const ambiguous = (name) => shown.filter((model) => model.name === name).length > 1;
    select.replaceChildren(
      ...shown.map(({ name, listedId, runtime, multiplier }) =>
        make("option", {
          value: listedId,
          text: ambiguous(name) ? `${name} · ${runtime}` : name,
          title: multiplier && multiplier !== 1 ? `${multiplier}× premium requests` : null,
        }),
      ),
    );
    const wanted = [before, this.#default, "gpt-5.2"].find((id) => id && shown.some(({ listedId }) => listedId === id));
    const first = shown.find(({ runtime }) => runtime === this.#defaultRuntime) ?? shown[0];
    select.value = wanted ?? first?.listedId ?? "";
    select.disabled = shown.length === 0;
    if (shown.length === 0) select.replaceChildren(make("option", { value: "", text: "No models" }));
    this.#showNotes();
  }

  #showNotes() {
    const notes = this.#notes.filter(({ runtime }) => !this.#runtime || runtime === this.#runtime);
    byId("model-notes").replaceChildren(
      ...notes.map(({ runtime, reason }) => {
        const note = make("p", { class: "field-hint model-note" }, make("b", { text: runtime }), " ", ...prose(reason), " ");
        if (/log(ged)? ?in|login|authenticat/i.test(reason)) note.append(make("button", { type: "button", class: "link-button", text: "Log in", on: { click: () => openLogin(runtime) } }));
        return note;
      }),
    );
  }
}

async function askForModels(refresh) {
  const { models, notes } = await ask(`api/models${refresh ? "?refresh=true" : ""}`);
  return { models: models.map((model) => ({ ...model, listedId: model.listedId ?? model.id })), notes };
}
