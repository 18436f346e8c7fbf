// Logs an agent in from the page: the code, where to enter it, and the result.

import { ask } from "../lib/api.js";
import { copyFromButton } from "../lib/clipboard.js";
import { make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";

const ASK_EVERY = 1500;

/** Dispatched on the window; lists of models and agents reload on it. */
export const LOGGED_IN = "flightdeck-agent-logged-in";

/** Opens the login of a runtime, whose agent people know as `title`. Resolves when the dialog closes, to whether the login succeeded. */
export function openLogin(runtime, title = runtime) {
  return new Login(runtime, title).open();
}

class Login {
  #runtime;
  #title;
  #path;
  #dialog;
  #body;
  #buttons;
  #timer = null;
  #closed = new AbortController();
  #succeeded = false;
  #shown = null;

  constructor(runtime, title) {
    this.#runtime = runtime;
    this.#title = title;
    this.#path = `api/runtimes/${encodeURIComponent(runtime)}/login`;
  }

  open() {
    this.#body = make("div", { class: "login-body", "aria-live": "polite" });
    this.#buttons = make("div", { class: "dialog-buttons" });
    const title = make("h2", { id: "login-title", text: `Log in to ${this.#title}` });
    this.#dialog = make("dialog", { class: "small-dialog login-dialog", "aria-labelledby": "login-title" }, title, this.#body, this.#buttons);
    document.body.append(this.#dialog);
    this.#dialog.showModal();
    this.#begin(false);
    return new Promise((resolve) => {
      this.#dialog.addEventListener("close", () => {
        this.#end();
        resolve(this.#succeeded);
      });
    });
  }

  async #begin(plainText) {
    this.#show({ state: "starting" });
    await this.#step(() => ask(this.#path, { json: plainText ? { plainText } : {}, signal: this.#closed.signal }));
  }

  async #step(question) {
    try {
      const state = await question();
      if (this.#closed.signal.aborted) return;
      this.#show(state);
      if (state.state === "starting" || state.state === "waiting") {
        this.#timer = setTimeout(() => this.#step(() => ask(this.#path, { signal: this.#closed.signal })), ASK_EVERY);
      }
    } catch (problem) {
      if (!this.#closed.signal.aborted) this.#show({ state: "failed", message: problem.message });
    }
  }

  #show(reply) {
    // Rebuilding the same content would only move the focus away.
    const key = JSON.stringify(reply);
    if (this.#shown === key) return;
    this.#shown = key;
    const { state, address, code, message } = reply;
    if (state === "waiting" && (address || code)) this.#showCode(address, code, message);
    else if (state === "succeeded") this.#showSuccess(message);
    else if (state === "failed" || state === "none") this.#showFailure(message ?? "The login was cancelled.");
    else this.#say("Starting the login …", message);
    this.#dialog.dataset.state = state;
  }

  #say(...texts) {
    this.#body.replaceChildren(...texts.filter(Boolean).map((text) => make("p", { text })));
    this.#setButtons(["Cancel", () => this.#dialog.close()]);
  }

  #showCode(address, code, message) {
    const parts = [];
    if (code) {
      const copy = make("button", { type: "button", class: "icon-button", "aria-label": "Copy the code", title: "Copy the code" }, icon("copy"));
      copy.addEventListener("click", () => copyFromButton(copy, code));
      parts.push(make("p", { text: "1. Copy this code" }), make("p", { class: "login-code" }, make("code", { text: code }), copy));
    }
    if (address) {
      const safe = /^https?:\/\//i.test(address);
      const link = safe ? make("a", { href: address, target: "_blank", rel: "noopener noreferrer", text: address }) : make("code", { text: address });
      parts.push(make("p", { text: code ? "2. Enter it at" : "Log in at" }), make("p", { class: "login-address" }, link));
    }
    parts.push(make("p", { class: "login-waiting" }, make("span", { class: "state-mark", "aria-hidden": "true" }), message ?? "Waiting for you to log in …"));
    this.#body.replaceChildren(...parts);
    this.#setButtons(["Cancel", () => this.#dialog.close()]);
  }

  #showSuccess(message) {
    this.#succeeded = true;
    this.#body.replaceChildren(make("p", { class: "login-done" }, icon("check"), message ?? "You are logged in."));
    this.#setButtons(["Close", () => this.#dialog.close()]);
    dispatchEvent(new CustomEvent(LOGGED_IN, { detail: this.#runtime }));
  }

  #showFailure(message) {
    this.#body.replaceChildren(make("p", { class: "field-problem", role: "alert", text: message }));
    const buttons = [["Close", () => this.#dialog.close()]];
    if (/keyring|keychain|credential store|secret service|plain/i.test(message)) buttons.push(["Store the login in a plain-text file", () => this.#begin(true)]);
    buttons.push(["Retry", () => this.#begin(false)]);
    this.#setButtons(...buttons);
  }

  #setButtons(...buttons) {
    this.#buttons.replaceChildren(...buttons.map(([text, run]) => make("button", { type: "button", text, on: { click: run } })));
  }

  #end() {
    this.#closed.abort();
    clearTimeout(this.#timer);
    this.#dialog.remove();
    const unfinished = ["starting", "waiting"].includes(this.#dialog.dataset.state);
    // The code is no longer needed. If this fails, the login times out.
    if (unfinished) ask(this.#path, { method: "DELETE" }).catch(() => {});
  }
}
