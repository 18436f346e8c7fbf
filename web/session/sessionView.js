// One session on the whole page: its past, what it does now, and the request part.

import { goTo, sessionAddress } from "../lib/address.js";
import { ask, Problem, sessionPath } from "../lib/api.js";
import { announce } from "../lib/announcer.js";
import { answerRequest } from "./answers.js";
import { Composer } from "../composer/composer.js";
import { byId } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { ToEndButton } from "./followEnd.js";
import { History } from "./history.js";
import { inbox } from "../lib/inboxStream.js";
import { KeptTasks } from "./keptTasks.js";
import { later } from "../lib/later.js";
import { addUsage } from "./notices.js";
import { setSubject } from "../lib/pageTitle.js";
import { Polling } from "./polling.js";
import { queueAfter } from "../composer/queue.js";
import { replaceText } from "../composer/replaceText.js";
import { SessionBanners } from "./sessionBanners.js";
import { SessionHeader } from "./sessionHeader.js";
import { SessionResponseRenderer } from "../sessionResponse.js";
import { BUSY_STATES } from "../lib/states.js";
import { TurnBeginning } from "./turnBeginning.js";
import { TurnChanges } from "./turnChanges.js";

const RETRY_OPENING = 2000;
/** A prompt is in the log at once, unless others write to it at the same time. */
const UNANSWERED_WITHIN = 1000;
const TURN_CALLBACKS = ["onIdle", "onAgentStart", "onUserPrompt", "onGeneratedUserPrompt"];
/** States in which no turn runs, whatever the log ends with. */
const STOPPED_STATES = ["failed", "needs-login", "closed"];

export class SessionView extends EventTarget {
  sessionId;
  /**
   * The session's details, kept up to date; "change" is dispatched when they change, "shown" after new events, "connected" when
   * the server can be reached again.
   */
  details = null;
  renderer;
  composer;
  banners;
  /** The tasks that this tab has run here. */
  keptTasks;
  #header = new SessionHeader();
  #history;
  #polling = null;
  /** The continuation that is under way, or null. */
  #resuming = null;
  #ending;
  #empty = null;
  #toEnd;
  #left = new AbortController();
  #firstPage;
  #firstDetails;
  /** Requests of this batch that nobody was told of yet: id → words. */
  #asked = new Map();
  /** Whether a turn runs at the end of the log; null while that is unknown. */
  #runs = null;
  #turnBeginning = new TurnBeginning();

  constructor(sessionId) {
    super();
    this.sessionId = sessionId;
    this.keptTasks = new KeptTasks(sessionId);
    const part = freshSessionPart();
    this.composer = new Composer(sessionId, () => (this.details ? this.lastSeq : null));
    this.renderer = new SessionResponseRenderer(part, { sessionId, requestActions: this.#requestActions() });
    this.#history = new History(sessionId, this.renderer, part);
    this.#history.onOlder = (events) => {
      this.composer.history.addOlder(promptsIn(events).map(({ text }) => text));
      this.#showNotices(events);
      this.#noteTurn(events);
    };
    this.banners = new SessionBanners(this);
    this.#ending = later(() => import("./sessionEnding.js")).then(({ SessionEnding }) => new SessionEnding(this));
    this.#toEnd = new ToEndButton(this.renderer, part, this.#left.signal);
    // Fetched first; everything else can wait.
    this.#firstPage = settled(this.#history.fetchEnd());
    this.#firstDetails = settled(ask(sessionPath(sessionId)));
    inbox.addEventListener("entry", ({ detail: { entry } }) => this.#hear(entry), { signal: this.#left.signal });
    setSubject(sessionId);
  }

  /** Shows the session and follows it until `leave`. With `event`, what that event wrote is shown instead of the end. */
  async open(event = null) {
    try {
      const details = await result(this.#firstDetails);
      const page = await result(this.#firstPage);
      const remarks = await this.#keptDecisions();
      if (this.hasLeft) return;
      this.renderer.setRemarks(remarks);
      this.update(details);
      this.#history.showEnd(page);
      this.#showNotices(page.events);
      for (const prompt of promptsIn(page.events)) this.composer.promptArrived(prompt);
      this.#noteTurn(page.events);
      this.#ending.then((ending) => ending.show());
      if (details.state !== "closed") this.startPolling(page.events.at(-1)?.seq ?? 0);
      performance.mark("session-shown");
      if (page.events.length === 0) await this.#showEmpty();
      this.#lookAround();
      this.#findTurnBeginning();
      this.#findUnanswered();
    } catch (problem) {
      if (!this.hasLeft) this.#cannotOpen(problem, event);
      return;
    }
    await this.#showPast(event);
  }

  /** What is further back, once the session is open: open requests, and what `event` wrote. */
  async #showPast(event) {
    await this.#history.loadBackTo(oldestRequest(this.details));
    if (event !== null) await this.showEvent(event);
    await this.#history.fillView();
  }

  /** Goes to what an event wrote, however far back it is. */
  async showEvent(seq) {
    const { FoundBlock } = await later(() => import("./foundBlock.js"));
    const isThere = await this.#reach(seq, "this part of the session", () => this.showEvent(seq));
    if (isThere === null || this.hasLeft) return;
    const block = isThere ? this.renderer.blockOf(seq) : null;
    if (block) new FoundBlock(block, this.renderer.pages, this.signal);
    else announce("The text that was found is no longer in this session");
  }

  /** Goes to the beginning, however far back it is. */
  async showBeginning() {
    if (!(await this.#reach(1, "the beginning of the session", () => this.showBeginning())) || this.hasLeft) return;
    const part = byId("session-part");
    part.scrollTo({ top: 0, behavior: "instant" });
    part.focus({ preventScroll: true });
    announce("Beginning of the session");
  }

  /** Loads an event, however far back it is. Returns whether it is there; null if that is unknown, which a banner says. */
  async #reach(seq, what, retry) {
    this.renderer.follow.stop();
    this.banners.showJump(null);
    try {
      return await this.#history.goTo(seq);
    } catch (problem) {
      if (this.hasLeft) return null;
      if (!(problem instanceof Problem)) throw problem;
      this.banners.showJump({ text: `Could not load ${what}: ${problem.message}`, retry });
      return null;
    }
  }

  /** Puts a prompt into the request box. What is there can be brought back by undoing, or else stays below it. */
  editPrompt(text) {
    if (!document.dispatchEvent(new CustomEvent("flightdeck:edit-prompt", { cancelable: true, detail: { text } }))) return;
    const textarea = byId("request-textarea");
    textarea.focus();
    const before = textarea.value.trim();
    if (!replaceText(textarea, text) && before) textarea.value = `${text}\n\n${before}`;
    textarea.dispatchEvent(new Event("input"));
  }

  /** Starts a new session that continues from the end of the turn that the event belongs to, and shows it. */
  async fork(seq) {
    try {
      const { sessionId } = await ask(sessionPath(this.sessionId, "fork"), { json: { seq } });
      if (!this.hasLeft) goTo(sessionAddress(sessionId));
      announce("Forked: this is the new session");
    } catch (problem) {
      this.composer.say(`Could not fork the session: ${problem.message}`);
    }
  }

  get hasLeft() {
    return this.#left.signal.aborted;
  }

  get signal() {
    return this.#left.signal;
  }

  get canReceive() {
    return this.#polling !== null && !this.#polling.isStopped;
  }

  /** The number of the last event that the page has. */
  get lastSeq() {
    return this.#polling?.after ?? this.details?.lastSeq ?? 0;
  }

  /** Another page takes over. */
  leave() {
    this.#left.abort();
    this.#polling?.stop();
    this.#history.end();
    this.composer.leave();
    this.banners.clear();
    this.#header.hide();
    this.#ending.then((ending) => ending.leave());
  }

  /** Applies new details of the session. Those that events have overtaken on their way are asked for again: their state is older. */
  update(news) {
    this.#apply(news);
    if (news.lastSeq < this.lastSeq) this.refresh().catch(() => {});
  }

  #apply(news) {
    this.details = { ...this.details, ...news };
    this.#header.show(this.details);
    this.banners.showState(this.details);
    // The notice may be in a part of the log that this browser has never loaded.
    if (news.lostSession) this.banners.showEarlierNotice({ kind: "fresh-session", ...news.lostSession });
    setSubject(this.details.title || this.sessionId);
    this.dispatchEvent(new Event("change"));
  }

  /** Reloads the session's details; once more if events have come meanwhile. */
  async refresh() {
    const load = () => ask(sessionPath(this.sessionId), { signal: this.signal });
    let details = await load();
    if (details.lastSeq < this.lastSeq) details = await load();
    this.#apply(details);
    return details;
  }

  /** Follows the session from an event. There is only ever one that follows, or each event would be shown twice. */
  startPolling(after) {
    this.#polling?.stop();
    const polling = new Polling(this.sessionId, after, (from, last) => this.#history.read(from, last));
    polling.onResponse = (response) => this.#take(response);
    polling.onBatch = () => {
      this.#announceRequests();
      this.#history.letGoOfFarPages();
      this.#toEnd.show();
      this.dispatchEvent(new Event("shown"));
    };
    polling.onConnection = (lost) => {
      this.banners.showConnection(lost, () => polling.now());
      if (lost) return;
      this.composer.connected();
      for (const card of this.renderer.openRequests) card.connected();
      this.dispatchEvent(new Event("connected"));
    };
    polling.onEnd = (reason) => this.#polled(reason);
    this.#polling = polling;
    polling.run();
  }

  stopPolling() {
    this.#polling?.stop();
    this.banners.showConnection(null);
  }

  /** Continues after a close, from the last event. The button that reopens a session and the news of it may both ask for this. */
  resume() {
    this.#resuming ??= this.#resume().finally(() => {
      this.#resuming = null;
    });
    return this.#resuming;
  }

  async #resume() {
    if (this.canReceive) return;
    const { state } = await this.refresh();
    this.#ending.then((ending) => ending.show());
    // It may be closed, still or again: nothing comes from it until it is reopened.
    if (state === "closed") return;
    const after = this.#polling?.after;
    if (after !== undefined) this.startPolling(after);
    else {
      const { events } = await this.#history.fetchEnd();
      if (!this.hasLeft) this.startPolling(events.at(-1)?.seq ?? 0);
    }
  }

  /** Retries what the session could not do, with the prompts that it kept. Returns whether that was accepted. */
  async retry() {
    try {
      this.update(await ask(sessionPath(this.sessionId, "retry"), { method: "POST" }));
      return true;
    } catch (problem) {
      this.composer.say(`Could not retry: ${problem.message}`);
      return false;
    }
  }

  #requestActions() {
    const view = this;
    return {
      get folder() {
        return view.details?.workingDirectory;
      },
      answer: async (requestId, answer) => {
        try {
          return await answerRequest(view.sessionId, requestId, answer);
        } catch (problem) {
          if (problem.code === "SessionNotFound" && !view.hasLeft) view.#deleted();
          throw problem;
        }
      },
      askAgain: (promptId) => view.composer.askAgain(promptId),
      releaseQueue: () => view.retry(),
      edit: (text) => view.editPrompt(text),
      fork: (seq) => view.fork(seq),
      turnChanges: new TurnChanges(view.sessionId, view.signal),
      canChangeModel: true,
    };
  }

  async #showEmpty() {
    const { EmptySession } = await later(() => import("./emptySession.js"));
    if (this.hasLeft || this.renderer.pages.length > 0) return;
    this.#empty = new EmptySession(this.details);
  }

  /** What was decided about the tasks of earlier visits. */
  async #keptDecisions() {
    const { decisions } = this.keptTasks;
    if (decisions.length === 0) return [];
    const { decisionBlock } = await later(() => import("./taskDecision.js"));
    return decisions.map(({ after, time, reason }) => ({ after, element: decisionBlock({ time, reason }).divElement }));
  }

  /** What is good to know once the session is on the page. */
  async #lookAround() {
    const [{ SharedFolder }, { TaskSelect }, { SeenMark }, { ComposerParts }] = await Promise.all([
      later(() => import("./sharedFolder.js")),
      later(() => import("./taskSelect.js")),
      later(() => import("./seenMark.js")),
      later(() => import("../composer/composerParts.js")),
    ]);
    if (this.hasLeft) return;
    new SharedFolder(this);
    new SeenMark(this);
    this.composer.setTasks(new TaskSelect(this));
    new ComposerParts(this);
  }

  #take({ data, seq, time }) {
    this.#empty?.hide();
    const name = this.renderer.processCallback(data, { seq, time });
    if (TURN_CALLBACKS.includes(name)) this.#runs = name !== "onIdle";
    if (name === "onUserPrompt") this.composer.promptArrived({ ...data, seq });
    else if (name === "onAgentStart") this.update({ state: "working", stateDetail: null });
    else if (name === "onStateChanged") this.update({ state: data.state, stateDetail: data.detail ?? null });
    else if (name === "onTitleChanged") this.update({ title: data.title });
    else if (name === "onContextUsage") this.update({ context: { currentTokens: data.currentTokens, tokenLimit: data.tokenLimit } });
    else if (name === "onBackgroundTasks") this.update({ backgroundTasks: data.tasks });
    else if (name === "onUsage") this.update({ usage: addUsage(this.details.usage, data) });
    else if (name === "onNotice") this.banners.showNotice({ ...data, seq });
    else if (name === "onPermissionRequested") this.#asked.set(data.requestId, `Permission needed: ${data.title}`);
    else if (name === "onQuestionAsked") this.#asked.set(data.requestId, `Question: ${data.question}`);
    else if (name === "onIdle") this.#turnEnded();
    this.#showQueue(data);
    this.composer.setWorking(this.renderer.isWorking);
    this.#showWithdrawal();
  }

  #showQueue(data) {
    const before = this.details.queuedPrompts ?? [];
    const queuedPrompts = queueAfter(before, data);
    if (queuedPrompts !== before) this.update({ queuedPrompts });
    // A prompt that is asked again comes before others; only the server knows where.
    if (queuedPrompts.length > before.length && before.length > 0) this.refresh().catch(() => {});
  }

  /** Only what is still open: rules answer many requests at once. */
  #announceRequests() {
    const open = new Set(this.renderer.openRequests.map(({ request }) => request.requestId));
    for (const [requestId, text] of this.#asked) if (open.has(requestId)) announce(exactString(text));
    this.#asked.clear();
  }

  /** A request may outlive its turn. */
  #turnEnded() {
    const waits = this.renderer.openRequests.length > 0;
    this.update({ state: waits ? "waiting" : "ready", stateDetail: null });
    announce(waits ? "The agent stopped and needs your input" : "The agent finished");
  }

  /** Learns from a page of the log, the newest first, whether a turn runs and since when. */
  #noteTurn(events) {
    const { time } = this.#turnBeginning;
    this.#turnBeginning.note(events);
    const isNew = this.#runs === null || this.#turnBeginning.time !== time;
    this.#runs ??= runsAfter(events);
    if (isNew) this.#showWorking();
  }

  async #findTurnBeginning() {
    if (!this.renderer.isWorking) return;
    const queued = (this.details.queuedPrompts ?? []).map(({ promptId }) => promptId);
    // Without it the line only says that the agent works.
    await this.#turnBeginning.find({ sessionId: this.sessionId, queued, signal: this.signal }).catch(() => {});
    if (this.renderer.isWorking && !this.hasLeft) this.#showWorking();
  }

  /** A request that got no reply may have arrived, further back than the end of the log. */
  async #findUnanswered() {
    const after = this.composer.unansweredAfter;
    if (after === null) return;
    // If it is not found, sending it again is safe all the same.
    const events = await this.#history.read(after, Math.min(this.lastSeq, after + UNANSWERED_WITHIN)).catch(() => []);
    for (const prompt of promptsIn(events)) this.composer.promptFound(prompt);
  }

  /** Whether a turn runs, from the log; from the state as long as the log's end does not say. */
  #showWorking() {
    const { state } = this.details;
    const working = this.#runs === null ? this.renderer.pages.length > 0 && BUSY_STATES.includes(state) : this.#runs && !STOPPED_STATES.includes(state);
    this.renderer.setWorking(working, this.#turnBeginning.time);
    this.composer.setWorking(working);
    this.#showWithdrawal();
  }

  #showWithdrawal() {
    this.composer.setWithdraws(this.renderer.isWorking ? 0 : this.renderer.openRequests.length);
  }

  #showNotices(events) {
    for (const { seq, response } of events) if (response.callback === "onNotice") this.banners.showEarlierNotice({ ...response, seq });
  }

  /** Applies changes from the inbox stream, made on other pages. */
  #hear({ sessionId, title, state, detail, unread = false, failed = false }) {
    if (sessionId !== this.sessionId || !this.details) return;
    if (state === null) this.#deleted();
    else {
      const reopened = this.details.state === "closed" && state !== "closed";
      this.update({ title, state, stateDetail: detail ?? null, unread, failed });
      if (reopened) this.resume().catch(() => this.#polled("reopened"));
    }
  }

  #deleted() {
    this.stopPolling();
    this.#ending.then((ending) => ending.deleted());
  }

  async #polled(reason) {
    try {
      const { state } = await this.refresh();
      if (state === "closed") this.#ending.then((ending) => ending.show());
      // The server has dropped the reader, not the session.
      else if (reason === "not-found") this.startPolling(this.#polling.after);
      else this.resume();
    } catch (problem) {
      if (this.hasLeft) return;
      if (problem.status === 404) this.#deleted();
      else this.banners.showConnection({ problem, retryAt: Date.now() }, () => this.#polled(reason));
    }
  }

  #cannotOpen(problem, event) {
    if (!(problem instanceof Problem)) throw problem;
    if (problem.status === 404) {
      this.#ending.then((ending) => ending.neverThere());
      return;
    }
    // The timer and the button may both ask for it: what is opened twice would show everything twice.
    let isTried = false;
    const again = () => {
      if (isTried) return;
      isTried = true;
      this.#firstPage = settled(this.#history.fetchEnd());
      this.#firstDetails = settled(ask(sessionPath(this.sessionId)));
      this.open(event).then(() => this.details && this.banners.showConnection(null));
    };
    const timer = setTimeout(again, RETRY_OPENING);
    this.signal.addEventListener("abort", () => clearTimeout(timer));
    this.banners.showConnection({ problem, retryAt: Date.now() + RETRY_OPENING }, () => {
      clearTimeout(timer);
      again();
    });
  }
}

/** Each session gets a part of its own, so that nothing of the last one is left in it. */
function freshSessionPart() {
  const old = byId("session-part");
  const part = old.cloneNode(false);
  part.className = "";
  old.replaceWith(part);
  return part;
}

/** Whether a turn runs after these events; null if they do not say. */
function runsAfter(events) {
  const last = events.findLast(({ response }) => TURN_CALLBACKS.includes(response.callback));
  return last ? last.response.callback !== "onIdle" : null;
}

/** The number of the oldest event that waits for an answer: requests are named after theirs. */
function oldestRequest({ requests = [] }) {
  return Math.min(...requests.map(({ requestId }) => Number(/^request-(\d+)$/.exec(requestId)?.[1] ?? Infinity)));
}

function promptsIn(events) {
  return events.map(({ seq, response }) => ({ ...response, seq })).filter(({ callback }) => callback === "onUserPrompt");
}

/** A promise whose rejection counts only when it is awaited. */
function settled(promise) {
  return promise.then(
    (value) => ({ value }),
    (error) => ({ error }),
  );
}

async function result(promise) {
  const { value, error } = await promise;
  if (error) throw error;
  return value;
}
