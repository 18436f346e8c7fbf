// The tab of a session that works on the task itself.

import { make } from "../lib/dom.js";
import { TaskSession } from "./taskSession.js";

export class AttemptTab {
  name;
  panel = make("div", { class: "tab-panel", role: "tabpanel" });
  #session;
  #sessionId;

  constructor(name, sessionId) {
    this.name = name;
    this.#sessionId = sessionId;
    this.#session = new TaskSession(sessionId);
    this.panel.append(this.#session.element);
  }

  get openRequests() {
    return this.#session.openRequests;
  }

  update(run) {
    const facts = run?.sessions?.find(({ sessionId }) => sessionId === this.#sessionId);
    if (facts) this.#session.setFacts(facts);
  }

  holds(sessionId) {
    return sessionId === this.#sessionId;
  }

  openSession() {
    return this.#session.show();
  }

  show() {
    this.#session.show();
  }

  hide() {
    this.#session.hide();
  }

  leave() {
    this.#session.leave();
  }
}
