// Installs an agent's program from the page: what is done, how far it is, and the result.

import { ask } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { bytes as size } from "../lib/format.js";
import { icon } from "../lib/icons.js";

const ASK_EVERY = 700;

/** Dispatched on the window; lists of models and agents reload on it. */
export const INSTALLED = "flightdeck-agent-installed";

/** Installs the program of a runtime. Resolves when the dialog closes, to whether the install succeeded. */
export function openInstall(runtime, title) {
  return new Install(runtime, title).open();
}

class Install {
  #runtime;
  #title;
  #path;
  #dialog;
  #state = make("p", { class: "install-state", role: "status" });
  #details = make("p", { class: "field-hint" });
  #buttons = make("div", { class: "dialog-buttons" });
  #timer = null;
  #closed = new AbortController();
  #stage = "none";

  constructor(runtime, title) {
    this.#runtime = runtime;
    this.#title = title;
    this.#path = `api/runtimes/${encodeURIComponent(runtime)}/install`;
  }

  open() {
    const heading = make("h2", { id: "install-title", text: `Install ${this.#title}` });
    this.#dialog = make("dialog", { class: "small-dialog install-dialog", "aria-labelledby": "install-title" }, heading, this.#state, this.#details, this.#buttons);
    document.body.append(this.#dialog);
    this.#dialog.showModal();
    this.#begin();
    return new Promise((resolve) => {
      this.#dialog.addEventListener("close", () => {
        this.#end();
        resolve(this.#stage === "succeeded");
      });
    });
  }

  #begin() {
    this.#show({ state: "downloading" });
    this.#step({ method: "POST" });
  }

  async #step(request) {
    try {
      const progress = await ask(this.#path, { ...request, signal: this.#closed.signal });
      if (this.#closed.signal.aborted) return;
      this.#show(progress);
      if (isRunning(progress.state)) this.#timer = setTimeout(() => this.#step({}), ASK_EVERY);
    } catch (problem) {
      if (!this.#closed.signal.aborted) this.#show({ state: "failed", message: problem.message });
    }
  }

  #show({ state, package: name, bytes, version, message }) {
    const isNew = state !== this.#stage;
    this.#stage = state;
    this.#dialog.dataset.state = state;
    const mark = make("span", { class: "state-mark", "aria-hidden": "true" });
    if (state === "downloading") this.#say(`Downloading${bytes ? ` · ${size(bytes)}` : ""} …`, mark);
    else if (state === "checking") this.#say("Checking that it runs …", mark);
    else if (state === "succeeded") this.#say(`${this.#title}${version ? ` ${version}` : ""} is installed.`, icon("check"));
    else this.#say(message ?? "The install was cancelled.", null, "field-problem");
    if (name && isRunning(state)) this.#details.replaceChildren("Installs ", make("code", { text: name }), " from npm into Flightdeck's own folder. Nothing else on this machine changes.");
    if (!isRunning(state)) this.#details.replaceChildren();
    // Rebuilding the same buttons would only move the focus away.
    if (isNew) this.#showButtons(state);
    if (isNew && state === "succeeded") dispatchEvent(new CustomEvent(INSTALLED, { detail: this.#runtime }));
  }

  #say(text, mark, name = "") {
    this.#state.className = `install-state ${name}`.trim();
    this.#state.replaceChildren(...(mark ? [mark, text] : [text]));
  }

  #showButtons(state) {
    const button = (text, run, className) => make("button", { type: "button", text, class: className, on: { click: run } });
    const close = button(isRunning(state) ? "Cancel" : "Close", () => this.#dialog.close());
    this.#buttons.replaceChildren(...(state === "failed" ? [close, button("Retry", () => this.#begin(), "primary")] : [close]));
    if (!isRunning(state)) this.#buttons.lastElementChild.focus();
  }

  #end() {
    this.#closed.abort();
    clearTimeout(this.#timer);
    this.#dialog.remove();
    // If this fails, the install goes on and is there the next time.
    if (isRunning(this.#stage)) ask(this.#path, { method: "DELETE" }).catch(() => {});
  }
}

function isRunning(state) {
  return state === "downloading" || state === "checking";
}
