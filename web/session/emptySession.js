// A session in which nothing has been said yet.

import { byId, make } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";

/** Prompts to try with the demo agent. */
const DEMO_PROMPTS = ["help", "markdown", "reason", "tool", "edit", "permission", "question"];

export class EmptySession {
  #element;

  constructor({ demo, workingDirectory }) {
    const place = workingDirectory ? make("span", {}, " in ", exactElement("code", {}, workingDirectory, { oneLine: true })) : "";
    this.#element = make("div", { class: "session-empty" }, make("h2", { text: "No messages yet" }), make("p", {}, "Tell the agent what to do", place, "."));
    if (demo) {
      const buttons = DEMO_PROMPTS.map((text) => make("button", { type: "button", class: "demo-prompt", text, on: { click: () => fillIn(text) } }));
      this.#element.append(make("p", { class: "session-empty-demo", text: "This is the demo agent: scripted, no AI. Try one of these:" }), make("p", { class: "demo-prompts" }, ...buttons));
    }
    byId("session-part").prepend(this.#element);
  }

  hide() {
    this.#element.remove();
  }
}

function fillIn(text) {
  const textarea = byId("request-textarea");
  textarea.value = text;
  textarea.dispatchEvent(new Event("input"));
  textarea.focus();
}
