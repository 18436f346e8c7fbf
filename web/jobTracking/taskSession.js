// The transcript of a task's session: the blocks of the session page, without its request box.

import { sessionAddress } from "../lib/address.js";
import { ask, Problem, sessionPath } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { duration, exactTime } from "../lib/format.js";
import { BUSY_STATES, stateElement } from "../lib/states.js";
import { SessionResponseRenderer } from "../sessionResponse.js";
import { History } from "../session/history.js";
import { addUsage, usageFacts } from "../session/notices.js";
import { Polling } from "../session/polling.js";

const RETRY_AFTER = 2000;

export class TaskSession {
  element = make("div", { class: "task-session" });
  #sessionId;
  #line = make("p", { class: "session-line" });
  #part = make("div", { class: "task-session-part", tabindex: "0", role: "region" });
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });
  #renderer;
  #history;
  /** The last event of the first page; null before that is shown. */
  #after = null;
  #polling = null;
  #details = null;
  /** `{ startTime, endTime, model, … }` from the job. */
  #facts = {};
  /** Resolves when the transcript is shown; null before it is loaded. */
  #opened = null;
  #retry = null;
  #isShown = false;
  #left = false;

  constructor(sessionId) {
    this.#sessionId = sessionId;
    this.#part.setAttribute("aria-label", `Session ${sessionId}`);
    this.element.append(this.#line, this.#problem, this.#part);
    this.#renderer = new SessionResponseRenderer(this.#part, { sessionId, requestActions: this.#requestActions() });
    this.#history = new History(sessionId, this.#renderer, this.#part);
  }

  get openRequests() {
    return this.#renderer.openRequests;
  }

  /** What the job knows about the session. */
  setFacts(facts) {
    this.#facts = facts;
    this.#showLine();
  }

  /** Shows the session and follows it until `hide`. Resolves when the end of its transcript is shown. */
  show() {
    this.#isShown = true;
    if (this.#opened === null) this.#opened = this.#open();
    else if (this.#after !== null && this.#polling?.isStopped !== false && !this.#hasEnded) this.#follow(this.#polling?.after ?? this.#after);
    return this.#opened;
  }

  /** The browser has few connections, so only what can be seen is followed. */
  hide() {
    this.#isShown = false;
    clearTimeout(this.#retry);
    this.#polling?.stop();
  }

  leave() {
    this.#left = true;
    this.hide();
    this.#history.end();
  }

  get #hasEnded() {
    return this.#details?.state === "closed";
  }

  async #open() {
    try {
      const [details, page] = await Promise.all([ask(sessionPath(this.#sessionId)), this.#history.fetchEnd()]);
      if (this.#left) return;
      this.#details = details;
      this.#problem.hidden = true;
      this.#history.showEnd(page);
      this.#renderer.setWorking(BUSY_STATES.includes(details.state));
      this.#showLine();
      this.#after = page.events.at(-1)?.seq ?? 0;
      if (!this.#hasEnded && this.#isShown) this.#follow(this.#after);
      await this.#history.fillView();
    } catch (problem) {
      if (!this.#left) this.#cannotOpen(problem);
    }
  }

  #cannotOpen(problem) {
    if (!(problem instanceof Problem)) throw problem;
    this.#opened = null;
    this.#problem.textContent = problem.status === 404 ? "This session was deleted." : `Could not load the session: ${problem.message}`;
    this.#problem.hidden = false;
    if (problem.status !== 404) this.#retry = setTimeout(() => this.show(), RETRY_AFTER);
  }

  #follow(after) {
    const polling = new Polling(this.#sessionId, after, (from, last) => this.#history.read(from, last));
    polling.onResponse = (response) => this.#take(response);
    polling.onBatch = () => this.#history.letGoOfFarPages();
    polling.onEnd = () => this.#ended();
    polling.onConnection = (lost) => {
      this.#problem.textContent = lost ? `${lost.problem.message} Retrying …` : "";
      this.#problem.hidden = !lost;
    };
    this.#polling = polling;
    polling.run();
  }

  #take({ data, seq, time }) {
    const name = this.#renderer.processCallback(data, { seq, time });
    if (name === "onStateChanged") this.#details = { ...this.#details, state: data.state };
    else if (name === "onUsage") this.#details = { ...this.#details, usage: addUsage(this.#details.usage, data) };
    else if (name === "onIdle") this.#details = { ...this.#details, state: this.openRequests.length > 0 ? "waiting" : "ready" };
    else if (name === "onAgentStart") this.#details = { ...this.#details, state: "working" };
    else return;
    this.#showLine();
  }

  async #ended() {
    this.#renderer.setWorking(false);
    try {
      this.#details = await ask(sessionPath(this.#sessionId));
    } catch {
      this.#details = { ...this.#details, state: "closed" };
    }
    if (!this.#left) this.#showLine();
  }

  #showLine() {
    const { startTime, endTime, model } = this.#facts;
    const facts = [this.#details?.model ?? model, startTime && endTime && duration(new Date(endTime) - new Date(startTime)), ...usageFacts(this.#details?.usage)].filter(Boolean);
    const title = startTime ? `${exactTime(startTime)}${endTime ? ` – ${exactTime(endTime)}` : ""}` : null;
    this.#line.replaceChildren(
      this.#details ? stateElement(this.#details.state) : make("span", { class: "work-quiet", text: "Loading …" }),
      make("span", { class: "session-line-facts", text: facts.join(" · "), title }),
      make("a", { class: "session-open", href: sessionAddress(this.#sessionId), text: `Open ${this.#sessionId}` }),
    );
  }

  #requestActions() {
    const session = this;
    return {
      get folder() {
        return session.#details?.workingDirectory;
      },
      answer: (requestId, { path, json }) => ask(sessionPath(session.#sessionId, `${path}/${encodeURIComponent(requestId)}`), { json }),
      askAgain: null,
      releaseQueue: null,
    };
  }
}
