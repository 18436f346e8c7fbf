// Chooses a folder on the server's machine.

import { ask } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { exactElement, exactNodes, exactString } from "../lib/exactText.js";
import { baseName, shortPath } from "../lib/format.js";
import { icon } from "../lib/icons.js";

/** Resolves to the chosen path, or null. */
export function openFolderPicker(start) {
  return new FolderPicker().open(start);
}

class FolderPicker {
  #dialog;
  #path;
  /** The path again, where a text field cannot show what it consists of. */
  #exact = make("p", { class: "field-hint picker-exact", hidden: true });
  #list;
  #recent;
  #problem;
  #up;
  #here = null;
  #parent = null;
  #hidden;
  #answer = null;
  #asked = 0;

  open(start) {
    this.#build();
    document.body.append(this.#dialog);
    this.#dialog.showModal();
    this.#go(start, { orHome: true });
    return new Promise((resolve) => {
      this.#dialog.addEventListener("close", () => {
        this.#dialog.remove();
        resolve(this.#answer);
      });
    });
  }

  #build() {
    this.#path = make("input", { type: "text", class: "picker-path", "aria-label": "Folder", spellcheck: "false", autocomplete: "off" });
    this.#path.addEventListener("input", () => this.#showExact());
    this.#up = make("button", { type: "button", class: "icon-button", "aria-label": "Parent folder", title: "Parent folder (Backspace)", on: { click: () => this.#goUp() } }, icon("up"));
    this.#problem = make("p", { class: "field-problem", role: "alert", hidden: true });
    this.#list = make("ul", { class: "picker-list", "aria-label": "Folders" });
    this.#recent = make("div", { class: "picker-recent" });
    this.#hidden = make("input", { type: "checkbox", id: "picker-hidden", on: { change: () => this.#go(this.#here) } });
    const use = make("button", { type: "submit", class: "primary", text: "Use this folder" });
    const cancel = make("button", { type: "button", text: "Cancel", on: { click: () => this.#dialog.close() } });
    const form = make(
      "form",
      { method: "dialog" },
      make("h2", { id: "picker-title", text: "Choose a folder" }),
      this.#recent,
      make("div", { class: "picker-bar" }, this.#up, this.#path),
      this.#exact,
      this.#problem,
      this.#list,
      make("div", { class: "dialog-buttons" }, make("label", { class: "picker-hidden" }, this.#hidden, make("span", { text: "Hidden folders" })), cancel, use),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      // A path that was typed is looked at first.
      if (this.#path.value.trim() !== this.#here) this.#go(this.#path.value.trim());
      else this.#choose(this.#here);
    });
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    this.#dialog = make("dialog", { class: "picker-dialog", "aria-labelledby": "picker-title" }, form);
  }

  #choose(path) {
    this.#answer = path;
    this.#dialog.close();
  }

  #goUp() {
    if (this.#parent !== null) this.#go(this.#parent, { focusOn: baseName(this.#here) });
  }

  async #go(path, { orHome = false, focusOn = null } = {}) {
    this.#asked += 1;
    const number = this.#asked;
    const query = new URLSearchParams();
    if (path) query.set("path", path);
    if (this.#hidden.checked) query.set("hidden", "true");
    try {
      const reply = await ask(`api/folders?${query}`);
      if (number === this.#asked) this.#show(reply, focusOn);
    } catch (problem) {
      if (number !== this.#asked) return;
      // The text field may contain anything; the picker then starts at the default folder and says why.
      if (orHome && path) await this.#go("");
      this.#problem.replaceChildren(...exactNodes(problem.message));
      this.#problem.hidden = false;
    }
  }

  #show({ path, parent, folders, truncated, recent }, focusOn) {
    this.#here = path;
    this.#parent = parent;
    this.#path.value = path;
    this.#showExact();
    this.#up.disabled = parent === null;
    this.#problem.hidden = true;
    const rows = folders.map((folder) => this.#row(folder));
    if (truncated) rows.push(make("li", { class: "empty", text: "Not all folders are shown. Type a path to open one." }));
    if (rows.length === 0) rows.push(make("li", { class: "empty", text: "No folders here." }));
    this.#list.replaceChildren(...rows);
    this.#showRecent(recent ?? []);
    const wanted = [...this.#list.querySelectorAll("button")].find((button) => button.dataset.name === focusOn);
    (wanted ?? this.#list.querySelector("button") ?? this.#path).focus({ preventScroll: !wanted });
  }

  #showExact() {
    const path = this.#path.value;
    this.#exact.hidden = exactString(path) === path;
    this.#exact.replaceChildren(exactElement("code", {}, path, { oneLine: true }));
  }

  #row({ name, path, repository }) {
    const button = make("button", { type: "button", class: "picker-folder", data: { name }, on: { click: () => this.#go(path) } }, icon(repository ? "branch" : "folder"), exactElement("span", {}, name, { oneLine: true }));
    if (repository) button.append(make("span", { class: "picker-note", text: "repository" }));
    return make("li", {}, button);
  }

  #showRecent(paths) {
    const buttons = paths.slice(0, 8).map((path) => make("button", { type: "button", class: "quiet-button", title: exactString(path), on: { click: () => this.#go(path) } }, exactElement("span", {}, shortPath(path, 34), { oneLine: true })));
    this.#recent.replaceChildren(...(buttons.length > 0 ? [make("span", { class: "picker-note", text: "Recent" }), ...buttons] : []));
  }

  #key(event) {
    const buttons = [...this.#list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) buttons[Math.min(Math.max(at + step, 0), buttons.length - 1)]?.focus();
    else if (event.key === "ArrowRight") document.activeElement.click();
    else if (event.key === "ArrowLeft" || event.key === "Backspace") this.#goUp();
    else if (event.key.length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey && event.key !== " ") {
      const from = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)];
      from.find((button) => button.dataset.name.toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    } else return;
    event.preventDefault();
  }
}
