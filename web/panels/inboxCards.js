// The cards of the inbox: what a session or job asks, as its own page shows it, with the same answers and the same care.

import { ask, askHtml, sessionPath } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { gatePromptPath, jobPath } from "../lib/jobs.js";
import { answerRequest } from "../session/answers.js";
import { PermissionBlock, QuestionBlock } from "../session/requests.js";
import { WaitingCards } from "../jobTracking/waitingCards.js";

/** So far back the answer of a request is looked for; it has just been written. */
const ANSWER_WINDOW = 60;
/** The stream may tell of a request before its event is in the log. */
const ASK_AGAIN_AFTER = 500;
/** How an answered request ended is asked for so much later when the log could not be read, and then half as often each time. */
const SETTLE_AGAIN_AFTER = 1000;
const SETTLE_AGAIN_AT_MOST = 60_000;
const BLOCKS = { onPermissionRequested: PermissionBlock, onQuestionAsked: QuestionBlock };
const ANSWERS = ["onPermissionAnswered", "onQuestionAnswered"];

export class SessionCards {
  element = make("div", { class: "inbox-cards" });
  /** Called when a card appears or goes. */
  onChange = () => {};
  #sessionId;
  #cards = new Map();
  /** Requests that the session does not have, whatever the stream says. */
  #unknown = new Set();
  #folder;
  #isLoading = false;
  #isSettling = false;
  #settleAgain = null;
  #settleAgainAfter = SETTLE_AGAIN_AFTER;
  #pending = [];

  constructor(sessionId) {
    this.#sessionId = sessionId;
  }

  /** Those that can be answered, oldest first. */
  get open() {
    return [...this.#cards.values()].filter(({ isOpen }) => isOpen);
  }

  /** How many there are, with those that were answered since the inbox was opened. */
  get size() {
    return this.#cards.size;
  }

  has(requestId) {
    return this.#cards.has(requestId);
  }

  /** Shows what the session waits for; `entry` is null when it is closed or gone. */
  show(entry) {
    this.#pending = entry?.pending ?? [];
    this.#folder = entry?.workingDirectory ?? this.#folder;
    this.#settleClosed();
    if (this.#missing.length > 0 && !this.#isLoading) this.#load();
  }

  get #missing() {
    return this.#pending.filter(({ requestId }) => !this.#cards.has(requestId) && !this.#unknown.has(requestId));
  }

  /** The stream has one line of each request; its event has all of it, as the transcript shows it. */
  async #load() {
    this.#isLoading = true;
    const wanted = this.#missing;
    const found = await Promise.all(wanted.map(({ requestId }) => this.#eventOf(requestId)));
    this.#isLoading = false;
    // Without an answer of the server the headline stays, and leads to the session; the next change asks again.
    if (found.includes(null)) return;
    wanted.forEach(({ requestId }, index) => {
      if (found[index] && this.#pending.some((one) => one.requestId === requestId)) this.#add(found[index]);
      else this.#unknown.add(requestId);
    });
    this.onChange();
    if (this.#missing.length > 0) this.#load();
  }

  /** The event that a request is named after; undefined if there is none, null if the server does not answer. */
  async #eventOf(requestId) {
    const seq = Number(/^request-(\d+)$/.exec(requestId)?.[1]);
    if (!seq) return undefined;
    const read = async () => {
      const { events } = await ask(sessionPath(this.#sessionId, `log?before=${seq + 1}&limit=1`));
      return events.find(({ response }) => response.requestId === requestId && response.callback in BLOCKS);
    };
    try {
      const found = await read();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_AFTER));
      return await read();
    } catch {
      return null;
    }
  }

  #add({ seq, time, response }) {
    const actions = { folder: this.#folder, answer: (requestId, answer) => answerRequest(this.#sessionId, requestId, answer) };
    const card = new BLOCKS[response.callback](response, actions, new Date(time));
    this.#cards.set(response.requestId, card);
    this.element.append(card.divElement);
    if (card.wantsRendering) card.renderWith(() => askHtml(sessionPath(this.#sessionId, `block/${seq}.html`)));
  }

  /** Those that can be answered on the page, but that the session waits for no more. */
  get #closed() {
    const ids = new Set(this.#pending.map(({ requestId }) => requestId));
    return this.open.filter(({ request }) => !ids.has(request.requestId));
  }

  /** Somebody has answered, here or elsewhere: each card becomes the line that the transcript has too. */
  async #settleClosed() {
    if (this.#isSettling || this.#closed.length === 0) return;
    this.#isSettling = true;
    clearTimeout(this.#settleAgain);
    const cards = this.#closed;
    const events = await this.#lastEvents();
    this.#isSettling = false;
    if (events === null) {
      this.#settleLater();
      return;
    }
    this.#settleAgainAfter = SETTLE_AGAIN_AFTER;
    // A server that was restarted may mention a request a moment later than its session.
    for (const card of this.#closed) if (cards.includes(card)) this.#settle(card, events);
    this.onChange();
    // What was answered meanwhile may not be among these events.
    this.#settleClosed();
  }

  /** The end of the log: nothing if the session is gone, null if that cannot be known now. */
  async #lastEvents() {
    try {
      return (await ask(sessionPath(this.#sessionId, `log?before=${Number.MAX_SAFE_INTEGER}&limit=${ANSWER_WINDOW}`))).events;
    } catch (problem) {
      return problem.status === 404 ? [] : null;
    }
  }

  /** The next news asks again too. Nobody sees the cards of an inbox that was closed. */
  #settleLater() {
    this.#settleAgain = setTimeout(() => this.element.isConnected && this.#settleClosed(), this.#settleAgainAfter);
    this.#settleAgainAfter = Math.min(this.#settleAgainAfter * 2, SETTLE_AGAIN_AT_MOST);
  }

  #settle(card, events) {
    const { requestId } = card.request;
    const event = events.find(({ response }) => ANSWERS.includes(response.callback) && response.requestId === requestId);
    if (event) card.answered(event.response, new Date(event.time), null);
    else {
      card.isOpen = false;
      card.divElement.remove();
      this.#cards.delete(requestId);
    }
  }
}

export class JobCards {
  element = make("div", { class: "inbox-cards", hidden: true });
  onChange = () => {};
  #jobId;
  #cards;
  #shown = "";
  #isLoading = false;

  constructor(jobId) {
    this.#jobId = jobId;
    this.#cards = new WaitingCards(this.element);
    this.#cards.answer = (action, json) => ask(jobPath(jobId, action), { json });
    this.#cards.loadPrompt = (gateId) => askHtml(gatePromptPath(jobId, gateId));
    this.#cards.onAnswered = () => this.#load();
    this.#cards.onClosed = () => this.#load();
  }

  get open() {
    return this.#cards.cards.filter(({ isOpen }) => isOpen);
  }

  has(waitingId) {
    return this.#cards.cards.some(({ request }) => request.waitingId === waitingId);
  }

  /** Shows what the job waits for; `job` is null when it is gone. */
  show(job) {
    const key = JSON.stringify(job?.waiting ?? []);
    if (key === this.#shown) return;
    this.#shown = key;
    if (!job || job.waiting.length === 0) this.#put([], null);
    else this.#load();
  }

  #put(waiting, folder) {
    this.#cards.show(waiting, { folder });
    this.onChange();
  }

  async #load() {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      const { waiting, workingDirectory } = await ask(jobPath(this.#jobId));
      this.#put(waiting ?? [], workingDirectory);
    } catch {
      // The headline is there, and leads to the job. The next change asks again.
      this.#shown = "";
    }
    this.#isLoading = false;
  }
}
