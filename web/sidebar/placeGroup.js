// A group of the sidebar: what needs a person, what works, what is recent, or what is in one folder.

import { jobsAddress, sessionAddress } from "../lib/address.js";
import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { baseName, plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { arrange } from "./arrange.js";

let groupsMade = 0;

export class PlaceGroup {
  element;
  #count = make("span", { class: "sidebar-count" });
  #list = make("ul");

  constructor(title, name) {
    groupsMade += 1;
    const id = `sidebar-group-${groupsMade}`;
    this.element = make("section", { class: `sidebar-group sidebar-${name}`, "aria-labelledby": id }, make("h2", { id }, title, " ", this.#count), this.#list);
  }

  /** `countsAll` is whether the number of rows says something. */
  show(rows, { countsAll = true } = {}) {
    this.#count.textContent = countsAll && rows.length > 0 ? String(rows.length) : "";
    arrange(this.#list, rows);
  }
}

/** The sessions, jobs and changes of one folder. */
export class FolderGroup {
  element;
  /** Called when it is opened or closed. */
  onToggle = () => {};
  #folder;
  #button;
  #waiting = make("span", { class: "sidebar-count sidebar-count-needs" });
  #facts = make("p", { class: "sidebar-folder-facts" });
  #factsKey = null;
  #list = make("ul");
  #body;

  constructor(folder, isOpen) {
    this.#folder = folder;
    groupsMade += 1;
    const id = `sidebar-group-${groupsMade}`;
    const name = folder ? baseName(folder) : "No folder";
    this.#button = make("button", { type: "button", class: "sidebar-folder", "aria-controls": id, title: folder ? exactString(folder) : null }, icon("chevron"), make("bdi", { class: "sidebar-title", text: exactString(name) }), this.#waiting);
    this.#button.addEventListener("click", () => this.toggle(!this.isOpen));
    this.#body = make("div", { class: "sidebar-folder-body", id }, this.#facts, this.#list);
    this.element = make("section", { class: "sidebar-group sidebar-folder-group", "aria-label": folder ? exactString(folder) : "No folder" }, make("h2", {}, this.#button), this.#body);
    this.#set(isOpen);
  }

  get isOpen() {
    return this.#button.getAttribute("aria-expanded") === "true";
  }

  toggle(open) {
    if (open === this.isOpen) return;
    this.#set(open);
    this.onToggle(open);
  }

  /** `changes` is `{ count, truncated }` or null; `sessionId` is the session whose page shows them, if there is one. */
  show(rows, { needs, changes, sessionId }) {
    this.#waiting.textContent = needs > 0 ? String(needs) : "";
    this.#waiting.title = needs > 0 ? `${needs} need your input` : "";
    arrange(this.#list, rows);
    const key = JSON.stringify([changes, sessionId]);
    if (key === this.#factsKey) return;
    this.#factsKey = key;
    this.#facts.replaceChildren(...[this.#changesLink(changes, sessionId), this.#jobLink()].filter(Boolean));
  }

  #changesLink(changes, sessionId) {
    if (!changes || !sessionId) return null;
    const text = changes.count === 0 ? "No changes" : `${plural(changes.count, "change")}${changes.truncated ? " or more" : ""}`;
    return make("a", { class: "sidebar-fact", href: `${sessionAddress(sessionId)}&panel=changes`, data: { local: "" }, text, title: "Files that differ from the last commit" });
  }

  #jobLink() {
    return this.#folder ? make("a", { class: "sidebar-fact", href: jobsAddress(this.#folder), text: "New job" }) : null;
  }

  #set(open) {
    this.#button.setAttribute("aria-expanded", String(open));
    this.#body.hidden = !open;
  }
}
