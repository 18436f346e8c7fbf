// What was allowed for good in a session's folder, and the way to take it back.

import { ask } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";

/** A longer call is cut. */
const MOST_OF_CALL = 200;

/** What a rule covers, in words. */
export function ruleText({ tool, decision, prefix, call }) {
  const words = `${decision} ${exactString(tool)}`;
  if (prefix !== undefined) return `${words} that begins with ${exactString(prefix)}`;
  if (call === undefined) return words;
  const shown = call.length > MOST_OF_CALL ? `${call.slice(0, MOST_OF_CALL)}…` : call;
  return `${words}: exactly ${exactString(shown)}`;
}

/** The rules of one folder as a list; null if there are none. `say` shows a problem. */
export class FolderRules {
  #rules = [];
  #changed;
  #say;

  constructor(changed, say) {
    this.#changed = changed;
    this.#say = say;
  }

  async load(folder, signal) {
    const { rules } = await ask("api/folder-rules", { signal });
    this.#rules = rules.filter((rule) => rule.folder === folder);
  }

  get element() {
    if (this.#rules.length === 0) return null;
    const items = this.#rules.map((rule) => {
      const remove = make("button", { type: "button", class: "link-button", text: "Remove", "aria-label": `Remove the rule: ${ruleText(rule)}` });
      remove.addEventListener("click", () => this.#remove(rule, remove));
      return make("li", {}, make("span", { text: ruleText(rule) }), " ", remove);
    });
    return make("ul", { class: "folder-rules" }, ...items);
  }

  async #remove({ id }, button) {
    button.disabled = true;
    try {
      await ask(`api/folder-rules/${id}`, { method: "DELETE" });
    } catch (problem) {
      if (problem.status !== 404) {
        button.disabled = false;
        this.#say(`Could not remove the rule: ${problem.message}`);
        return;
      }
    }
    this.#rules = this.#rules.filter((rule) => rule.id !== id);
    this.#changed();
  }
}
