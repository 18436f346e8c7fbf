// A table of the configuration, such as `providers`: its entries, and forms to add, change and remove them.

import { announce } from "../lib/announcer.js";
import { confirmAction } from "../lib/dialog.js";
import { make, setText } from "../lib/dom.js";
import { exactElement, exactString } from "../lib/exactText.js";
import { icon } from "../lib/icons.js";
import { EntryForm } from "./entryForm.js";
import { savingProblem } from "./savingProblem.js";
import { entryKey } from "./settingsStore.js";

/**
 * `table` is the configuration's, `noun` what an entry is, `fields` those of the form, `fresh` the value of a new one.
 * `summary(value)` gives a line of text. `test`, if there is one, is `{ label, run(name) }`; `run` resolves to
 * `{ isGood, text }`. `removal(name)` says what is lost.
 */
export class EntryTable {
  element;
  #store;
  #settings;
  #list = make("ul", { class: "entry-list" });
  #add;
  #newPlace = make("div", { class: "entry-new" });
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });
  /** The name of the entry whose form is open; empty for a new one, null for none. */
  #open = null;
  #form = null;
  /** The entry that the person has just removed here: its form goes too. */
  #removed = null;
  /** The entry whose removal got no reply: it may be gone. */
  #unanswered = null;
  #shown = null;

  constructor(store, settings) {
    this.#store = store;
    this.#settings = settings;
    this.#add = make("button", { type: "button", text: `Add ${settings.noun}`, on: { click: () => this.#edit(null) } });
    this.element = make("div", { class: "entry-table", data: { table: settings.table } }, this.#list, this.#problem, this.#newPlace, make("p", { class: "entry-add" }, this.#add));
    store.addEventListener("change", () => this.show());
    this.show();
  }

  show() {
    const entries = this.#store.entries(this.#settings.table);
    if (this.#unanswered !== null && !entries.some(([name]) => name === this.#unanswered)) {
      this.#unanswered = null;
      setText(this.#problem, null);
    }
    const isThere = entries.some(([name]) => name === this.#open);
    if (this.#open && this.#open === this.#removed && !isThere) this.#close();
    const shown = JSON.stringify(entries);
    if (shown === this.#shown) return;
    this.#shown = shown;
    // A form in which somebody writes stays, also when its entry was removed elsewhere.
    const kept = this.#open ? this.#place(this.#open) : null;
    if (kept) {
      this.#form.setGone(!isThere);
      kept.querySelector(".entry-actions").hidden = !isThere;
    }
    this.#list.querySelectorAll(":scope > li").forEach((row) => row !== kept && row.remove());
    const rows = (those) => those.map(([name, setting]) => this.#row(name, setting));
    if (kept) {
      // It is not moved, because that would take the focus out of it.
      kept.before(...rows(entries.filter(([name]) => name.localeCompare(this.#open) < 0)));
      kept.after(...rows(entries.filter(([name]) => name.localeCompare(this.#open) > 0)));
    } else this.#list.append(...(entries.length > 0 ? rows(entries) : [make("li", { class: "empty", text: this.#settings.empty })]));
  }

  #row(name, { value }) {
    const { noun, summary, test } = this.#settings;
    const shown = exactString(name);
    const said = make("p", { class: "entry-said", role: "status", hidden: true });
    const edit = make("button", { type: "button", text: "Edit", "aria-label": `Edit ${noun} ${shown}`, on: { click: () => this.#edit(name) } });
    const remove = make("button", { type: "button", class: "quiet-button icon-button", "aria-label": `Remove ${noun} ${shown}`, title: "Remove", on: { click: () => this.#remove(name) } }, icon("trash"));
    const tester = test ? make("button", { type: "button", text: test.label, "aria-label": `${test.label}: ${noun} ${shown}`, on: { click: () => this.#test(name, tester, said) } }) : null;
    const words = make("div", { class: "entry-words" }, exactElement("b", { class: "entry-name" }, name, { oneLine: true }), exactElement("span", { class: "entry-summary" }, summary(value), { oneLine: true }), said);
    return make("li", { class: "entry", data: { name } }, make("div", { class: "entry-row" }, words, make("div", { class: "entry-actions" }, tester, edit, remove)));
  }

  #place(name) {
    return [...this.#list.querySelectorAll(".entry")].find(({ dataset }) => dataset.name === name);
  }

  #edit(name) {
    this.#close();
    this.show();
    const { table, fields, fresh, noun, pack, nameAbout, namePlaceholder } = this.#settings;
    const value = name === null ? fresh : Object.fromEntries(this.#store.entries(table))[name]?.value;
    const form = new EntryForm(this.#store, { table, name, value: this.#settings.unpack?.(value) ?? value, fields: typeof fields === "function" ? fields() : fields, noun, pack, nameAbout, namePlaceholder });
    form.onDone = (done) => {
      this.#close();
      this.show();
      const place = this.#place(done ?? name);
      (place?.querySelector(".entry-actions button") ?? this.#add).focus();
    };
    this.#open = name ?? "";
    this.#form = form;
    this.#add.hidden = true;
    (name === null ? this.#newPlace : this.#place(name)).append(form.element);
    form.focus();
  }

  #close() {
    this.#open = null;
    this.#form = null;
    this.#shown = null;
    this.#add.hidden = false;
    this.element.querySelectorAll(".entry-form").forEach((form) => form.remove());
  }

  async #remove(name) {
    const { table, noun, removal } = this.#settings;
    const isSure = await confirmAction({ title: `Remove ${noun} ${exactString(name)}?`, text: removal?.(name) ?? "It is removed from your settings file.", action: "Remove" });
    if (!isSure) return;
    this.#removed = name;
    this.#unanswered = null;
    try {
      await this.#store.change({ [entryKey(table, name)]: null });
      setText(this.#problem, null);
      announce("Removed");
      this.#add.focus();
    } catch (problem) {
      setText(this.#problem, savingProblem(problem));
      if (problem.isUnreachable) this.#unanswered = name;
    } finally {
      this.#removed = null;
    }
  }

  async #test(name, button, said) {
    button.disabled = true;
    said.className = "entry-said";
    setText(said, "Testing …");
    let result;
    try {
      result = await this.#settings.test.run(name);
    } catch (problem) {
      result = { isGood: false, text: problem.message };
    }
    said.className = `entry-said ${result.isGood ? "is-good" : "is-bad"}`;
    setText(said, exactString(result.text));
    button.disabled = false;
  }
}
