// The rules of `permissions.rules`: in their order, saved together.

import { announce } from "../lib/announcer.js";
import { make, setText } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { icon } from "../lib/icons.js";
import { savingProblem, shortened } from "./savingProblem.js";
import { layerBadge } from "./settingField.js";

const KEY = "permissions.rules";
const DECISIONS = [["allow", "Allow"], ["deny", "Deny"], ["ask", "Follow the mode"]];
const CHECK_AFTER = 350;

export class RulesEditor {
  element = make("div", { class: "rules-editor setting", data: { key: KEY } });
  #store;
  #rows = make("ol", { class: "rule-list" });
  #empty = make("p", { class: "empty", text: "No rules." });
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });
  #warning = make("p", { class: "field-warning", role: "status", hidden: true });
  #state = make("span", { class: "setting-state", role: "status" });
  #reason = make("p", { class: "setting-reason", hidden: true });
  #meta = make("p", { class: "setting-meta" });
  #save = make("button", { type: "button", class: "primary", text: "Save rules", hidden: true });
  #cancel = make("button", { type: "button", text: "Cancel", hidden: true });
  #add = make("button", { type: "button", text: "Add rule" });
  #isDirty = false;
  /** Counts what the person changes. */
  #edits = 0;
  /** `{ rules }` that were sent and got no reply: they may have been saved. */
  #unanswered = null;
  #shown = null;
  #timer = null;
  #checks = 0;

  constructor(store) {
    this.#store = store;
    const head = make("div", { class: "rule-head", "aria-hidden": "true" }, make("span", { text: "Decision" }), make("span", { text: "Tool" }), make("span", { text: "Commands that begin with" }), make("span"));
    const hint = make("p", { class: "field-hint", text: "Name a tool by kind, such as shell, write, read or url, or by its own name. * matches any characters. A command prefix matches only simple shell commands: no operators, substitution, redirection or line breaks." });
    this.element.append(head, this.#rows, this.#empty, make("div", { class: "entry-buttons" }, this.#add, this.#save, this.#cancel, this.#state), this.#problem, this.#warning, this.#reason, this.#meta, hint);
    this.#add.addEventListener("click", () => {
      const row = this.#addRow({ decision: "ask", tool: "" });
      this.#changed();
      row.querySelector("input").focus();
    });
    this.#save.addEventListener("click", () => this.#send(this.#read()));
    this.#cancel.addEventListener("click", () => this.#revert());
    store.addEventListener("change", () => this.show());
    this.show();
  }

  show() {
    this.#findSaved();
    const setting = this.#store.get(KEY);
    const text = JSON.stringify(setting);
    if (!setting || this.#isDirty || text === this.#shown) return;
    this.#shown = text;
    const { layer, source, value, userValue } = setting;
    this.#rows.replaceChildren();
    for (const rule of value ?? []) this.#addRow(rule);
    const isFixed = layer === "environment" || layer === "flag";
    setText(this.#reason, isFixed ? `Set by ${source}, which overrides your file.` : null);
    this.element.querySelectorAll("button, input, select").forEach((one) => (one.disabled = isFixed));
    const reset = make("button", { type: "button", class: "link-button", text: "Reset", "aria-label": "Reset the rules", on: { click: () => this.#send(null) } });
    this.#meta.replaceChildren(layerBadge(setting), userValue === undefined || isFixed ? "" : reset);
    this.#tidy();
  }

  /** Rules that got no reply were saved all the same if the file has them now. */
  #findSaved() {
    if (this.#unanswered === null || !this.#store.isInFile(KEY, this.#unanswered.rules)) return;
    this.#unanswered = null;
    this.#isDirty = false;
    this.#shown = null;
    setText(this.#problem, null);
    this.#tidy();
    this.#state.textContent = "Saved";
    announce("Rules saved");
  }

  #addRow(rule) {
    const label = (text) => `${text} of rule ${this.#rows.children.length + 1}`;
    const decision = make("select", { class: "rule-decision", "aria-label": label("Decision") }, ...DECISIONS.map(([value, text]) => make("option", { value, text, selected: value === rule.decision })));
    const tool = make("input", { type: "text", class: "rule-tool path", value: rule.tool, spellcheck: "false", autocomplete: "off", placeholder: "shell", "aria-label": label("Tool") });
    const prefix = make("input", { type: "text", class: "rule-prefix path", value: rule.prefix ?? "", spellcheck: "false", autocomplete: "off", placeholder: "any", "aria-label": label("Command prefix") });
    const button = (picture, text, act) => make("button", { type: "button", class: "quiet-button icon-button", "aria-label": text, title: text, on: { click: act } }, icon(picture));
    const up = button("up", "Move up", () => this.#move(row, -1));
    const down = button("up", "Move down", () => this.#move(row, 1));
    down.classList.add("rule-down");
    const remove = button("trash", "Remove the rule", () => {
      const next = row.nextElementSibling ?? row.previousElementSibling;
      row.remove();
      this.#changed();
      (next?.querySelector("select") ?? this.#add).focus();
    });
    const row = make("li", { class: "rule-row" }, decision, tool, prefix, make("span", { class: "rule-actions" }, up, down, remove));
    if (rule.call !== undefined) row.append(make("p", { class: "field-hint rule-call", text: `Only this exact call: ${exactString(rule.call)}` }));
    // What the boxes do not show stays.
    row.rule = rule;
    row.addEventListener("input", () => this.#changed());
    this.#rows.append(row);
    return row;
  }

  #move(row, step) {
    const other = step < 0 ? row.previousElementSibling : row.nextElementSibling;
    if (!other) return;
    if (step < 0) other.before(row);
    else other.after(row);
    this.#changed();
    row.querySelectorAll(".rule-actions button")[step < 0 ? 0 : 1].focus();
  }

  #read() {
    return [...this.#rows.children].map((row) => {
      const prefix = row.querySelector(".rule-prefix").value.trim();
      const { prefix: before, ...rest } = row.rule;
      return { ...rest, tool: row.querySelector(".rule-tool").value.trim(), decision: row.querySelector(".rule-decision").value, ...(prefix ? { prefix } : {}) };
    });
  }

  #changed() {
    this.#isDirty = true;
    this.#unanswered = null;
    this.#edits += 1;
    this.#shown = null;
    this.#state.textContent = "";
    this.#tidy();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), CHECK_AFTER);
  }

  #tidy() {
    this.#empty.hidden = this.#rows.children.length > 0;
    this.element.querySelector(".rule-head").hidden = this.#rows.children.length === 0;
    this.element.classList.toggle("dirty", this.#isDirty);
    this.#save.hidden = !this.#isDirty;
    this.#cancel.hidden = !this.#isDirty;
    const open = this.#read().find(({ decision, tool, prefix, call }) => decision === "allow" && /^(\*+|shell)$/.test(tool) && !prefix && call === undefined);
    setText(this.#warning, open ? `“Allow ${open.tool}” lets agents run every command without asking you.` : null);
  }

  async #check() {
    const rules = this.#read();
    if (rules.some(({ tool }) => !tool)) return;
    this.#checks += 1;
    const check = this.#checks;
    try {
      await this.#store.check({ [KEY]: rules });
      if (check === this.#checks) setText(this.#problem, null);
    } catch (problem) {
      if (check === this.#checks && problem.status === 400) setText(this.#problem, shortened(problem.message));
    }
  }

  #revert() {
    clearTimeout(this.#timer);
    this.#checks += 1;
    this.#isDirty = false;
    this.#unanswered = null;
    this.#shown = null;
    setText(this.#problem, null);
    this.show();
    this.#add.focus();
  }

  async #send(rules) {
    clearTimeout(this.#timer);
    this.#checks += 1;
    if (rules?.some(({ tool }) => !tool)) {
      setText(this.#problem, "Each rule needs a tool name.");
      return;
    }
    this.#save.disabled = true;
    this.#unanswered = null;
    const edits = this.#edits;
    const sent = rules !== null && rules.length === 0 ? null : rules;
    try {
      await this.#store.change({ [KEY]: sent });
      announce("Rules saved");
      // What was changed meanwhile stays in the boxes, to be saved next.
      if (edits !== this.#edits) return;
      setText(this.#problem, null);
      this.#isDirty = false;
      this.#shown = null;
      this.show();
      this.#state.textContent = "Saved";
      this.#add.focus();
    } catch (problem) {
      setText(this.#problem, savingProblem(problem));
      if (problem.isUnreachable && edits === this.#edits) this.#unanswered = { rules: sent };
    } finally {
      this.#save.disabled = false;
      this.#tidy();
    }
  }
}
