// Ctrl+K: goes to any session, job or command by a few letters, and to what was written in sessions. Enter opens what is marked;
// nothing here allows, denies, ends or deletes anything.

import { goTo } from "../lib/address.js";
import { make } from "../lib/dom.js";
import { exactNodes, exactString } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { jobList } from "../lib/jobList.js";
import { sessionList } from "../lib/sessionList.js";
import { firstChoices, rankedChoices, textChoices } from "./choices.js";

/** Typing this fast counts as one change for the search in texts. */
const PAUSE = 180;
/** Shorter words are in nearly every text. */
const SHORTEST_SEARCH = 3;

export class Switcher {
  #commands;
  #dialog = null;
  #input;
  #list;
  #status;
  #groups = [];
  #hits = [];
  #hitsNote = "";
  #options = [];
  #marked = 0;
  /** Whether the person has marked something else than the best. */
  #isChosen = false;
  #timer = null;
  #asking = new AbortController();

  /** `commands()` returns what can be done now: `{ id, label, key, also, run }`. */
  constructor(commands) {
    this.#commands = commands;
  }

  toggle() {
    if (this.#dialog?.open) this.#dialog.close();
    else this.open();
  }

  open() {
    if (document.querySelector("dialog[open]")) return;
    // The event of the one before may still be on its way.
    if (this.#dialog) this.#closed(this.#dialog);
    this.#build();
    this.#rank();
    // The lists may not have been needed before.
    if (!sessionList.isLoaded) sessionList.load().then(() => this.#rankAgain()).catch(() => {});
    if (jobList.jobs.length === 0) jobList.load().then(() => this.#rankAgain());
  }

  #build() {
    this.#list = make("div", { class: "switcher-list", id: "switcher-list", role: "listbox", "aria-label": "Results" });
    this.#input = make("input", {
      type: "text",
      class: "switcher-input",
      role: "combobox",
      placeholder: "Go to a session, job or command, or search text",
      "aria-label": "Go to a session, job or command, or search text",
      "aria-controls": "switcher-list",
      "aria-expanded": "true",
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
      enterkeyhint: "go",
    });
    this.#status = make("p", { class: "visually-hidden", role: "status" });
    const close = make("button", { type: "button", class: "quiet-button icon-button switcher-close", "aria-label": "Close", on: { click: () => this.#dialog.close() } }, icon("close"));
    this.#dialog = make("dialog", { class: "switcher", "aria-label": "Go to" }, make("div", { class: "switcher-head" }, icon("search"), this.#input, close), this.#list, this.#status);
    this.#input.addEventListener("input", () => this.#typed());
    this.#dialog.addEventListener("keydown", (event) => this.#key(event));
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    const dialog = this.#dialog;
    dialog.addEventListener("close", () => this.#closed(dialog));
    document.body.append(this.#dialog);
    this.#dialog.showModal();
    this.#input.focus();
  }

  #closed(dialog) {
    if (dialog !== this.#dialog) return;
    this.#stop();
    dialog.remove();
    this.#dialog = null;
    this.#hits = [];
    this.#hitsNote = "";
  }

  #typed() {
    this.#stop();
    const query = this.#input.value.trim();
    const searches = query.length >= SHORTEST_SEARCH && !query.startsWith(">");
    this.#hits = [];
    this.#hitsNote = searches ? "Searching …" : "";
    this.#rank();
    if (searches) this.#timer = setTimeout(() => this.#search(query), PAUSE);
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#asking.abort();
    this.#asking = new AbortController();
  }

  #rank() {
    this.#isChosen = false;
    this.#order();
  }

  /** More is known: what the person has marked stays marked. */
  #rankAgain() {
    if (!this.#dialog) return;
    const chosen = this.#isChosen ? this.#options[this.#marked]?.choice.id : null;
    this.#order();
    const number = this.#options.findIndex(({ choice }) => choice.id === chosen);
    if (number >= 0) this.#mark(number);
  }

  #order() {
    const query = this.#input.value.trim();
    this.#groups = query ? rankedChoices(query, this.#commands()) : firstChoices(this.#commands());
    this.#marked = 0;
    this.#show();
  }

  async #search(query) {
    const { signal } = this.#asking;
    try {
      this.#hits = await textChoices(query, signal);
      this.#hitsNote = this.#hits.length === 0 ? "No results" : "";
    } catch (problem) {
      if (signal.aborted) return;
      this.#hitsNote = problem.code === "InvalidSearch" ? "" : `Could not search: ${problem.message}`;
    }
    // The texts stand below, so what is marked stays marked and in place.
    if (!signal.aborted && this.#dialog) this.#show();
  }

  #show() {
    const groups = [...this.#groups, ["In session text", this.#hits, this.#hitsNote]].filter(([, choices, note]) => choices.length > 0 || note);
    this.#options = [];
    const sections = groups.map(([title, choices, note], number) => {
      const id = `switcher-group-${number}`;
      return make("div", { class: "switcher-group", role: "group", "aria-labelledby": id }, make("p", { class: "switcher-title", id, role: "presentation", text: title }), ...choices.map((choice) => this.#option(choice)), note ? make("p", { class: "switcher-note", role: "presentation", text: note }) : null);
    });
    this.#list.replaceChildren(...(sections.length > 0 ? sections : [make("p", { class: "switcher-note", role: "presentation", text: "No results" })]));
    this.#mark(Math.min(this.#marked, Math.max(0, this.#options.length - 1)));
    this.#status.textContent = plural(this.#options.length, "result");
  }

  #option(choice) {
    const number = this.#options.length;
    const element = make("div", { class: "switcher-option", role: "option", id: `switcher-option-${number}`, "aria-selected": "false", data: { choice: choice.id } }, signOf(choice), make("span", { class: "switcher-text" }, titleOf(choice), make("span", { class: "switcher-aside" }, ...exactNodes(choice.aside, { oneLine: true }))), make(choice.kind === "command" ? "kbd" : "span", { class: "switcher-hint", text: choice.hint }));
    element.addEventListener("click", (event) => this.#take(choice, event));
    // A moving pointer marks; a list that moves under a pointer at rest does not.
    element.addEventListener("pointermove", () => number !== this.#marked && this.#choose(number, { scroll: false }));
    this.#options.push({ choice, element });
    return element;
  }

  #choose(number, how) {
    this.#isChosen = true;
    this.#mark(number, how);
  }

  #mark(number, { scroll = true } = {}) {
    this.#options[this.#marked]?.element.setAttribute("aria-selected", "false");
    this.#marked = number;
    const element = this.#options[number]?.element;
    if (element) {
      element.setAttribute("aria-selected", "true");
      this.#input.setAttribute("aria-activedescendant", element.id);
      if (scroll) element.scrollIntoView({ block: "nearest" });
    } else this.#input.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    if (event.isComposing) return;
    const last = this.#options.length - 1;
    const steps = {
      ArrowDown: () => this.#choose(this.#marked >= last ? 0 : this.#marked + 1),
      ArrowUp: () => this.#choose(this.#marked <= 0 ? last : this.#marked - 1),
      PageDown: () => this.#choose(Math.min(last, this.#marked + 8)),
      PageUp: () => this.#choose(Math.max(0, this.#marked - 8)),
      Enter: event.target === this.#input && (() => !event.repeat && this.#options[this.#marked] && this.#take(this.#options[this.#marked].choice, event)),
    };
    if (event.altKey || !steps[event.key]) return;
    event.preventDefault();
    if (last >= 0) steps[event.key]();
  }

  #take({ run, address, isLocal }, event) {
    const elsewhere = event.ctrlKey || event.metaKey || event.button === 1;
    this.#dialog.close();
    if (run) run();
    else if (elsewhere) window.open(address, "_blank", "noopener");
    else if (isLocal && ["/", "/index.html"].includes(location.pathname)) goTo(address);
    else location.assign(address);
  }
}

/** The state of a place, or what kind of thing it is. */
function signOf({ kind, mark }) {
  if (kind === "command") return icon("command");
  if (kind === "text") return icon("text");
  const sign = make("span", { class: `sidebar-mark state-${mark}`, "aria-hidden": "true" }, make("span", { class: "state-mark" }));
  return kind === "job" ? make("span", { class: "switcher-sign" }, sign, icon("job")) : sign;
}

function titleOf({ title, label, kind }) {
  if (typeof title === "string") return make("bdi", { class: "switcher-name", title: exactString(title) }, ...exactNodes(title, { oneLine: true }), kind === "command" ? null : make("span", { class: "visually-hidden", text: `, ${label.slice(title.length + 2)}` }));
  return make("span", { class: "switcher-name switcher-snippet", title: exactString(label) }, ...title.map(({ text, match }) => make(match ? "mark" : "span", { text })));
}
