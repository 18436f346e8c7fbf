// The first tab of a task: what was decided, and the sessions that drive it.

import { make } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { decisionBlock } from "../session/taskDecision.js";
import { TaskSession } from "./taskSession.js";

export class DrivingTab {
  name = "Driving";
  panel = make("div", { class: "tab-panel", role: "tabpanel" });
  #decisions = make("div", { class: "decisions", tabindex: "0", role: "log", "aria-label": "Decisions" });
  #picker = make("select", { class: "session-picker", "aria-label": "Driving session", hidden: true });
  #empty = make("p", { class: "empty work-empty" });
  #shownDecisions = 0;
  #sessions = [];
  /** The chosen session; null for the last one. */
  #chosen = null;
  #current = null;
  #isShown = false;

  constructor() {
    this.panel.append(this.#decisions, this.#empty, this.#picker);
    this.#picker.addEventListener("change", () => this.#choose(this.#picker.value));
  }

  get openRequests() {
    return this.#current?.openRequests ?? [];
  }

  update(run) {
    this.#showDecisions(run?.decisions ?? []);
    const driving = (run?.sessions ?? []).filter(({ isDriving }) => isDriving);
    for (const facts of driving.slice(this.#sessions.length)) this.#sessions.push({ sessionId: facts.sessionId, view: null });
    this.#sessions.forEach((session, index) => {
      session.facts = driving[index];
      session.view?.setFacts(driving[index]);
    });
    this.#empty.hidden = this.#sessions.length > 0 || this.#shownDecisions > 0;
    this.#empty.textContent = run ? "No session has started yet." : "This step has not started yet.";
    this.#showPicker();
    this.#showSession();
  }

  holds(sessionId) {
    return this.#sessions.some((session) => session.sessionId === sessionId);
  }

  openSession(sessionId) {
    this.#choose(sessionId);
    return this.#current.show();
  }

  show() {
    this.#isShown = true;
    this.#current?.show();
  }

  hide() {
    this.#isShown = false;
    this.#current?.hide();
  }

  leave() {
    for (const { view } of this.#sessions) view?.leave();
  }

  #showDecisions(decisions) {
    const isAtEnd = this.#decisions.scrollHeight - this.#decisions.scrollTop - this.#decisions.clientHeight < 24;
    for (const decision of decisions.slice(this.#shownDecisions)) this.#decisions.append(decisionBlock(decision).divElement);
    if (decisions.length === this.#shownDecisions) return;
    this.#shownDecisions = decisions.length;
    this.#decisions.title = plural(decisions.length, "decision");
    if (isAtEnd) this.#decisions.scrollTop = this.#decisions.scrollHeight;
  }

  #showPicker() {
    this.#picker.hidden = this.#sessions.length < 2;
    if (this.#picker.options.length === this.#sessions.length) return;
    this.#picker.replaceChildren(...this.#sessions.map(({ sessionId }, index) => make("option", { value: sessionId, text: `Driving session ${index + 1} of ${this.#sessions.length} · ${sessionId}` })));
  }

  #choose(sessionId) {
    this.#chosen = sessionId === this.#sessions.at(-1).sessionId ? null : sessionId;
    this.#showSession();
  }

  #showSession() {
    const chosen = this.#sessions.find(({ sessionId }) => sessionId === this.#chosen) ?? this.#sessions.at(-1);
    if (!chosen) return;
    this.#picker.value = chosen.sessionId;
    if (chosen.view === null) {
      chosen.view = new TaskSession(chosen.sessionId);
      chosen.view.setFacts(chosen.facts);
    }
    if (this.#current === chosen.view) return;
    this.#current?.hide();
    this.#current?.element.remove();
    this.#current = chosen.view;
    this.panel.append(chosen.view.element);
    if (this.#isShown) chosen.view.show();
  }
}
