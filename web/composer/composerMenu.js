// The menu "…" beside the request: templates, and what a toolbar has no room for.

import { byId, make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { icon } from "../lib/icons.js";
import { expandRequestPart, isToolbar } from "./resizeBar.js";
import { placeToWrite } from "./templates.js";

const menu = byId("composer-menu");
const opener = byId("composer-more-button");

export class ComposerMenu {
  #composer;
  #templates;
  #switches;

  constructor(view, templates, switches) {
    this.#composer = view.composer;
    this.#templates = templates;
    this.#switches = switches;
    const { signal } = view;
    menu.addEventListener("beforetoggle", (event) => event.newState === "open" && this.#fill(), { signal });
    menu.addEventListener("toggle", (event) => event.newState === "open" && this.#opened(), { signal });
    menu.addEventListener("keydown", (event) => moveFocus(event), { signal });
    // Its button opens it before this is loaded. What belongs to a session that was left is gone.
    signal.addEventListener("abort", () => menu.replaceChildren());
    if (!menu.matches(":popover-open")) return;
    this.#fill();
    this.#opened();
  }

  #fill() {
    const { queued } = opener.dataset;
    const hidden = [queued && `${queued} queued`, document.getElementById("folder-note") && "shared folder"].filter(Boolean);
    menu.classList.toggle("for-toolbar", isToolbar());
    menu.replaceChildren(
      entry("template", "Save as template", () => this.#save(), { disabled: this.#composer.text.trim() === "" }),
      entry("edit", "Manage templates", () => this.#manage()),
      entry("attach", "Attach files", () => this.#composer.chooseFiles(), { className: "only-in-toolbar" }),
      entry("up", `Show everything${hidden.length > 0 ? ` (${hidden.join(", ")})` : ""}`, () => expandRequestPart(), { className: "only-in-toolbar" }),
      ...this.#switches.otherAgents.map((agent) => entry("plus", `New session with ${exactString(agent.title)}`, () => this.#switches.startWith(agent), { className: "without-agent-switch" })),
      entry("leave", "Close Session", () => byId("close-session-button").click(), { className: "only-in-toolbar" }),
    );
  }

  /** Above its button, within the page. */
  #opened() {
    const place = opener.getBoundingClientRect();
    const { width } = menu.getBoundingClientRect();
    menu.style.left = `${Math.max(4, Math.min(place.left, innerWidth - width - 4))}px`;
    menu.style.bottom = `${innerHeight - place.top + 4}px`;
    menu.querySelector("button:not(:disabled)")?.focus();
  }

  async #save() {
    const { editTemplate } = await import("./templateDialog.js");
    const known = await this.#templates.load().then(({ prompts }) => prompts, () => []);
    if (await editTemplate({ text: this.#composer.text, known })) await this.#templates.load().catch(() => {});
    this.#composer.focus();
  }

  async #manage() {
    const { manageTemplates } = await import("./templateDialog.js");
    let isUsed = false;
    const use = ({ text }) => {
      isUsed = true;
      const before = this.#composer.text.trim() ? `${this.#composer.text.trimEnd()}\n\n` : "";
      this.#composer.setText(before + text, placeToWrite(text).map((at) => at + before.length));
    };
    await manageTemplates({ load: () => this.#templates.load(), use });
    if (!isUsed) this.#composer.focus();
  }
}

function entry(picture, label, run, { disabled = false, className = "" } = {}) {
  const choose = () => {
    menu.hidePopover();
    run();
  };
  return make("button", { type: "button", class: className, disabled, on: { click: choose } }, icon(picture), make("span", { text: label }));
}

function moveFocus(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const buttons = [...menu.querySelectorAll("button:not(:disabled)")].filter((button) => button.offsetParent);
  buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length]?.focus();
}
