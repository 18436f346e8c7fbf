// One changed file: a line with its counts, and its diff below when it is open.

import { ask, sessionPath } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { exactNodes, exactString } from "../lib/exactText.js";
import { icon } from "../lib/icons.js";
import { forget, onRenderedClick, parseRendered, scheduleLoad, whenNear } from "../session/renderedContent.js";
import { sideBySide } from "./sideBySide.js";

const STATUS = { modified: "M", added: "A", deleted: "D", renamed: "R", untracked: "U" };

/**
 * `panel` is where it is shown: `{ sessionId, query, view, signal, copyPatch(button, path), revert(row, hunk) }`; `query`
 * names the comparison.
 */
export class FileRow {
  element;
  #panel;
  #file;
  #button;
  #place;
  #isOpen = false;
  /** The change whose diff is shown, and what the server said about it. */
  #shown = null;
  #diff = null;

  constructor(panel, file) {
    this.#panel = panel;
    this.#button = make("button", { type: "button", class: "changes-file quiet-button", "aria-expanded": "false", on: { click: () => this.setOpen(!this.#isOpen) } });
    this.#place = make("div", { class: "changes-diff rendered-content", hidden: true });
    this.#place.addEventListener("click", (event) => onRenderedClick(event, () => {}));
    this.element = make("li", { data: { path: file.path } }, this.#button, this.#place);
    this.update(file);
  }

  get file() {
    return this.#file;
  }

  get button() {
    return this.#button;
  }

  get isOpen() {
    return this.#isOpen;
  }

  /** What the server said about the diff; null while it is not loaded. */
  get diff() {
    return this.#diff;
  }

  /** The rows that begin a change, in order. */
  get hunks() {
    return this.#isOpen ? [...this.#place.querySelectorAll(".diff-hunk")] : [];
  }

  /** The lines as the server rendered them: all, or those of one hunk. */
  rendered(hunk = null) {
    const content = parseRendered(this.#diff?.html ?? "");
    if (hunk !== null) {
      let at = -1;
      for (const row of content.querySelectorAll("tr")) {
        if (row.classList.contains("diff-hunk")) at += 1;
        if (at !== hunk) row.remove();
      }
    }
    return content;
  }

  /** Shows what the list says now; a diff that is open is loaded again if the file was changed. */
  update(file) {
    this.#file = file;
    this.#button.replaceChildren(...label(file));
    const name = file.oldPath ? `${exactString(file.oldPath)} → ${exactString(file.path)}` : exactString(file.path);
    this.#button.title = name;
    if (this.#isOpen && !this.#isCurrent()) this.#load();
  }

  setOpen(open) {
    this.#isOpen = open;
    this.#button.setAttribute("aria-expanded", String(open));
    this.#place.hidden = !open;
    if (!open) forget(this.element);
    else if (!this.#isCurrent()) whenNear(this.element, () => this.#load());
    this.#panel.opened();
  }

  /** Opens it and resolves when its diff is there. */
  async openNow() {
    if (!this.#isOpen) this.setOpen(true);
    forget(this.element);
    if (!this.#isCurrent()) await this.#load();
  }

  /** Inline or side by side, as chosen. */
  showView() {
    if (this.#diff) this.#showDiff();
  }

  #isCurrent() {
    return this.#diff !== null && this.#shown !== null && this.#shown === this.#file.state;
  }

  async #load() {
    const { path, state } = this.#file;
    if (!this.#place.hasChildNodes()) this.#place.replaceChildren(make("p", { class: "empty", text: "Loading …" }));
    try {
      const query = new URLSearchParams({ ...this.#panel.query, path });
      const load = () => ask(sessionPath(this.#panel.sessionId, `changes/file?${query}`), { signal: this.#panel.signal });
      this.#diff = await scheduleLoad(load);
      this.#shown = state ?? null;
      this.#showDiff();
    } catch (problem) {
      if (this.#panel.signal.aborted) return;
      const retry = make("button", { type: "button", text: "Retry", on: { click: () => this.#load() } });
      this.#place.replaceChildren(make("p", { class: "field-problem", role: "alert", text: problem.message }), retry);
    }
  }

  #showDiff() {
    const { truncated, state, hunks, notRevertible } = this.#diff;
    const content = this.rendered();
    if (this.#panel.view.isSideBySide) {
      for (const table of content.querySelectorAll("table.diff-lines")) table.replaceWith(sideBySide(table));
    }
    content.querySelectorAll(".diff-hunk").forEach((row, index) => {
      row.tabIndex = -1;
      if (hunks) row.querySelector(".diff-text").append(this.#revertButton("Revert hunk", index));
    });
    const actions = make(
      "div",
      { class: "changes-file-actions" },
      make("button", { type: "button", class: "quiet-button", text: "Copy patch", on: { click: ({ currentTarget }) => this.#panel.copyPatch(currentTarget, this.#file.path) } }),
      state ? this.#revertButton("Revert file", null) : null,
      !state && notRevertible ? make("span", { class: "field-hint", text: `Cannot be reverted: ${notRevertible}` }) : null,
    );
    const hadFocus = this.#place.contains(document.activeElement);
    this.#place.replaceChildren(actions, content, truncated ? make("p", { class: "field-hint", text: "Only the beginning of the diff is shown." }) : "");
    // The keys of the panel work only while the focus is in it.
    if (hadFocus) this.#button.focus({ preventScroll: true });
  }

  #revertButton(text, hunk) {
    return make("button", { type: "button", class: "quiet-button revert-button", on: { click: () => this.#panel.revert(this, hunk) } }, icon("reopen"), text);
  }
}

function label({ path, oldPath, status, added, removed }) {
  const slash = path.replace(/\/$/, "").lastIndexOf("/");
  const name = make("span", { class: "changes-path path" });
  if (oldPath) name.append(make("span", { class: "changes-folder" }, ...exactNodes(oldPath, { oneLine: true })), " → ");
  if (slash >= 0) name.append(make("span", { class: "changes-folder" }, ...exactNodes(path.slice(0, slash + 1), { oneLine: true })));
  name.append(...exactNodes(path.slice(slash + 1), { oneLine: true }));
  return [
    icon("chevron"),
    make("span", { class: `changes-status status-${status}`, title: status, "aria-label": status, role: "img", text: STATUS[status] ?? "?" }),
    name,
    make("span", { class: "changes-added", "aria-label": added === null ? null : `${added} added`, text: added ? `+${added}` : "" }),
    make("span", { class: "changes-removed", "aria-label": removed === null ? null : `${removed} removed`, text: removed ? `−${removed}` : "" }),
  ];
}
