// The model box: names shown, ids used, sorted by name; or a name of one's own, where the agent takes any.

import { byId, make, setText } from "../lib/dom.js";
import { catalogue } from "./agentCatalogue.js";
import { remember, remembered } from "./remembered.js";

const select = byId("model-select");
const input = byId("model-name");
const CHOSEN = "models";
/** No agent has a model of this name. */
const OTHER = "(other)";

export class Models {
  #runtime = "";
  #takesAny = false;
  /** The model that was chosen on another connection to the same agent. */
  #carried = "";
  #shown = "";
  /** Whether the person has chosen on this page, for this runtime; only then a better default does not replace it. */
  #isChosen = false;

  constructor() {
    select.addEventListener("change", () => {
      this.#isChosen = true;
      this.say("");
      this.#showInput(select.value === OTHER);
      if (select.value === OTHER) input.focus();
      else this.#keep(select.value);
    });
    input.addEventListener("input", () => this.say(""));
    input.addEventListener("change", () => this.#keep(OTHER));
    catalogue.addEventListener("change", () => this.#show());
  }

  /** Shows the models of one runtime. With `takesAny`, other names are possible too. */
  setRuntime(name, { takesAny = false } = {}) {
    if (name !== this.#runtime) {
      const isSameAgent = this.#runtime !== "" && catalogue.runtime(name)?.agent === catalogue.runtime(this.#runtime)?.agent;
      this.#carried = isSameAgent ? this.chosen : "";
      this.#isChosen = false;
      input.value = "";
    }
    this.#runtime = name;
    this.#takesAny = takesAny;
    this.#show();
  }

  /** The chosen model as its runtime knows it; "" leaves the choice to the server. */
  get chosen() {
    if (!input.hidden) return input.value.trim();
    return catalogue.modelsOf(this.#runtime).find(({ listedId }) => listedId === select.value)?.id ?? "";
  }

  /** Whether the name was typed. */
  get isTyped() {
    return !input.hidden;
  }

  say(text) {
    setText(byId("model-problem"), text);
  }

  focus() {
    (input.hidden ? select : input).focus();
  }

  #keep(choice) {
    const all = remembered(CHOSEN, {});
    remember(CHOSEN, { ...all, [this.#runtime]: choice === OTHER ? { typed: input.value.trim() } : { listed: choice } });
  }

  #show() {
    if (!this.#runtime || !catalogue.hasModels) return this.#showNothing();
    this.say("");
    const all = catalogue.modelsOf(this.#runtime);
    const { takesAnyName, agentChooses, default: usual } = catalogue.listOf(this.#runtime);
    const listed = all.filter(({ hidden }) => !hidden);
    const takesOther = takesAnyName || this.#takesAny || listed.length < all.length;
    const ambiguous = (name) => listed.filter((model) => model.name === name).length > 1;
    const options = listed.map(({ name, id, listedId, multiplier, provider }) => ({ value: listedId, text: ambiguous(name) ? `${name} · ${id}` : name, title: titleOf(multiplier, provider) }));
    if (agentChooses && options.length > 0) options.unshift({ value: "", text: "Default model" });
    if (takesOther) options.push({ value: OTHER, text: "Other model …" });
    const listedIdOf = (wanted) => listed.find(({ id }) => id === wanted)?.listedId;
    this.#showOptions(options, { carried: listedIdOf(this.#carried), usual: listedIdOf(usual) ?? (usual && takesOther ? OTHER : undefined), typed: usual });
    byId("model-suggestions").replaceChildren(...all.map(({ id, name }) => make("option", { value: id, text: name })));
    input.placeholder = agentChooses ? "Default model" : "Model name";
    select.hidden = listed.length === 0 && takesOther;
    select.disabled = options.length === 0;
    if (options.length === 0) select.replaceChildren(make("option", { value: "", text: "No models" }));
    byId("model-label").htmlFor = select.hidden ? "model-name" : "model-select";
    this.#showInput(select.hidden || select.value === OTHER);
  }

  /**
   * Options that have not changed are left alone, and so is what is chosen among them. `usual` is what the server would choose;
   * a name that is not listed is typed.
   */
  #showOptions(options, { carried, usual, typed }) {
    const key = JSON.stringify([this.#runtime, usual, typed, options]);
    if (key === this.#shown) return;
    const before = this.#isChosen ? select.value : "";
    this.#shown = key;
    select.replaceChildren(...options.map(({ value, text, title }) => make("option", { value, text, title })));
    const kept = remembered(CHOSEN, {})[this.#runtime];
    if (!before && kept?.typed && !input.value) input.value = kept.typed;
    const wishes = [before, carried, kept?.typed ? OTHER : kept?.listed, usual];
    const wanted = wishes.find((id) => id && options.some(({ value }) => value === id));
    select.value = wanted ?? options[0]?.value ?? "";
    if (select.value === OTHER && !input.value && usual === OTHER) input.value = typed;
  }

  #showInput(isShown) {
    input.hidden = !isShown;
    // The visible label is the list's, as long as there is one.
    if (select.hidden) input.removeAttribute("aria-label");
    else input.setAttribute("aria-label", "Model name");
  }

  #showNothing() {
    if (catalogue.modelProblem) {
      this.say(`Could not load models: ${catalogue.modelProblem.message} Press Refresh to retry.`);
      select.replaceChildren(make("option", { value: "", text: "No models" }));
    }
  }
}

function titleOf(multiplier, provider) {
  const facts = [provider, multiplier !== undefined && multiplier !== 1 && `${multiplier}× premium requests`].filter(Boolean);
  return facts.length > 0 ? facts.join(" · ") : null;
}
