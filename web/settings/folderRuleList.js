// What was allowed for good in folders, folder by folder, and the way to take it back.

import { announce } from "../lib/announcer.js";
import { ask } from "../lib/api.js";
import { make, setText } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";
import { ago, exactTime } from "../lib/format.js";
import { ruleText } from "../panels/folderRules.js";
import { notLoaded } from "./notLoaded.js";

export class FolderRuleList {
  element = make("div", { class: "folder-rule-list" }, make("p", { class: "empty", text: "Loading …" }));
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });

  constructor() {
    this.load();
  }

  async load() {
    try {
      this.#show((await ask("api/folder-rules")).rules);
    } catch (problem) {
      this.element.replaceChildren(notLoaded("the rules", problem, () => this.load()));
    }
  }

  #show(rules) {
    if (rules.length === 0) {
      this.element.replaceChildren(make("p", { class: "empty", text: "Nothing is always allowed in any folder." }));
      return;
    }
    const folders = [...new Set(rules.map(({ folder }) => folder))].toSorted();
    const list = (folder) => make("ul", { class: "entry-list" }, ...rules.filter((rule) => rule.folder === folder).map((rule) => this.#row(rule)));
    this.element.replaceChildren(this.#problem, ...folders.flatMap((folder) => [exactElement("h4", { class: "folder-name path" }, folder, { oneLine: true }), list(folder)]));
  }

  #row(rule) {
    const text = ruleText(rule);
    const remove = make("button", { type: "button", text: "Remove", "aria-label": `Remove the rule: ${text}`, on: { click: () => this.#remove(rule, remove) } });
    const when = make("span", { class: "entry-summary", title: exactTime(rule.addedAt), text: `Added ${ago(rule.addedAt)}` });
    return make("li", { class: "entry" }, make("div", { class: "entry-row" }, make("div", { class: "entry-words" }, make("span", { class: "rule-text", text }), when), make("div", { class: "entry-actions" }, remove)));
  }

  async #remove({ id }, button) {
    button.disabled = true;
    try {
      await ask(`api/folder-rules/${id}`, { method: "DELETE" });
    } catch (problem) {
      // Somebody else was faster.
      if (problem.status !== 404) {
        button.disabled = false;
        setText(this.#problem, `Could not remove the rule: ${problem.message}`);
        return;
      }
    }
    announce("Removed");
    await this.load();
    this.element.querySelector("button")?.focus();
  }
}
