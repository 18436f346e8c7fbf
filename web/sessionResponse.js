// The responses of a session, as blocks in the order in which they began.

import { FollowEnd } from "./session/followEnd.js";
import { MessageBlock } from "./messageBlock.js";
import { AskAgain } from "./session/askAgain.js";
import { dayOf, daySeparator } from "./session/daySeparator.js";
import { FailureLine } from "./session/failure.js";
import { attachmentList } from "./session/attachmentList.js";
import { promptOfTurn, turnOfPrompt } from "./composer/queue.js";
import { PromptEdits } from "./session/promptEdits.js";
import { HeldQueue } from "./session/heldQueue.js";
import { RetryLine, addUsage, noticeLine } from "./session/notices.js";
import { RenderedBlocks } from "./session/renderedBlocks.js";
import { PermissionBlock, QuestionBlock } from "./session/requests.js";
import { firstLine, parseArguments, toolOutcome, toolSummary, toolText, toolTitle } from "./session/toolCall.js";
import { TranscriptPage } from "./session/transcriptPage.js";
import { Turn, joinTurns } from "./session/turn.js";
import { TurnEnd } from "./session/turnEnd.js";
import { WorkingLine } from "./session/workingLine.js";

/** A page of the running session is closed at about this many blocks. */
const BLOCKS_PER_PAGE = 80;

/** Where the parts of a block come from: callback → [part, type of the block, name of its id, name of its content]. */
const BLOCK_CALLBACKS = {
  onStartReasoning: ["start", "Reasoning", "reasoningId"],
  onReasoning: ["data", "Reasoning", "reasoningId"],
  onEndReasoning: ["end", "Reasoning", "reasoningId"],
  onStartMessage: ["start", "Message", "messageId"],
  onMessage: ["data", "Message", "messageId"],
  onEndMessage: ["end", "Message", "messageId"],
  onStartToolExecution: ["start", "Tool", "toolCallId"],
  onToolExecution: ["data", "Tool", "toolCallId"],
  onEndToolExecution: ["end", "Tool", "toolCallId"],
};

const REQUEST_CALLBACKS = {
  onPermissionRequested: ["start", "Permission", PermissionBlock],
  onPermissionAnswered: ["end", "Permission"],
  onQuestionAsked: ["start", "Question", QuestionBlock],
  onQuestionAnswered: ["end", "Question"],
};

export class SessionResponseRenderer {
  #container;
  #sessionId;
  #requestActions;
  #line;
  #pages = [];
  /** What is in the document, by "type-id": `{ key, node, page, started, ended, tool }`. */
  #entries = new Map();
  /** Blocks whose beginning is in a part of the log that is not loaded: key → `{ end }`. */
  #headless = new Map();
  /** Of blocks that still receive, what the page of the past that is being shown has: key → text. */
  #olderData = new Map();
  #askAgain;
  #heldQueue;
  #rendered;
  #promptEdits = new PromptEdits();
  #working = false;
  #begun = 0;
  /** What is not in the log: `{ after, element }`. */
  #remarks = [];

  /** Keeps the end in view until the reader scrolls up. */
  follow;

  /**
   * `sessionId` lets finished blocks be rendered by the server; `requestActions` is
   * `{ folder, answer(requestId, body), askAgain(promptId), releaseQueue() }` and lets requests be answered. Where a session
   * can be written to, it also has `edit(text)`, `fork(seq)` and `canChangeModel`; with `turnChanges`, ends of turns link to
   * what the turn changed.
   */
  constructor(div, { sessionId = null, requestActions = null } = {}) {
    this.#container = div;
    this.#sessionId = sessionId;
    this.#rendered = new RenderedBlocks(sessionId);
    this.#requestActions = requestActions;
    this.#askAgain = new AskAgain(requestActions?.askAgain ?? null);
    this.#heldQueue = new HeldQueue(requestActions?.releaseQueue ?? null);
    div.classList.add("session-response-container");
    this.#line = new WorkingLine(() => this.openRequests.length > 0);
    div.append(this.#line.element);
    this.follow = new FollowEnd(div);
    this.follow.watch(this.#line.element);
  }

  get pages() {
    return this.#pages;
  }

  get isWorking() {
    return this.#working;
  }

  /** How many blocks have come since the page was opened. */
  get blocksBegun() {
    return this.#begun;
  }

  /** Shows whether the agent works, and since when if that is known. */
  setWorking(working, since = null) {
    this.#working = working;
    if (working) this.#line.show(since);
    else this.#line.hide();
  }

  /** The requests that wait for an answer, oldest first. */
  get openRequests() {
    const open = [...this.#entries.values()].filter(({ node }) => node.isOpen === true);
    return open.sort((one, other) => one.seq - other.seq).map(({ node }) => node);
  }

  /** Takes the next response of the session. Returns the callback's name. */
  processCallback(data, { seq = 0, time = new Date() } = {}) {
    const name = data.callback;
    if (name === "onUserPrompt" && !data.queued) this.follow.goOn();
    const known = this.#entries.size;
    this.#apply(this.#lastPage(), data, { seq, time }, "live");
    this.#begun += Math.max(0, this.#entries.size - known);
    if (name === "onUserPrompt" || name === "onGeneratedUserPrompt" || name === "onAgentStart") this.setWorking(true, time.getTime());
    else if (name === "onIdle" || (name === "onStateChanged" && ["failed", "needs-login"].includes(data.state))) this.setWorking(false);
    else if (this.#working) this.#line.heard();
    return name;
  }

  /**
   * Gives what is not in the log its places: `[{ after, element }]`, each behind the event with the number `after`. Call it
   * before there are any events.
   */
  setRemarks(remarks) {
    this.#remarks = remarks;
  }

  /** Puts something that is not in the log at the end. Returns the number of the event that it follows. */
  appendRemark(element) {
    const page = this.#lastPage();
    const after = this.#pages.findLast(({ lastSeq }) => lastSeq > 0)?.lastSeq ?? 0;
    page.element.append(element);
    this.#remarks.push({ after, element });
    return after;
  }

  /** Puts older events (`[{ seq, time, response }]`) before everything. Returns their page. */
  prependEvents(events) {
    const page = new TranscriptPage();
    const first = this.#pages[0]?.element ?? this.#line.element;
    this.#pages.unshift(page);
    this.#container.insertBefore(page.element, first);
    this.#fill(page, events, "older");
    this.follow.watch(page.element);
    return page;
  }

  /**
   * Puts events that are far before everything, and the ends of their blocks on later pages, before everything. The
   * stretches in between (`[[firstSeq, lastSeq]]`) are loaded when they come near. Returns their pages.
   */
  prependFarEvents(events, ends, stretches, height) {
    const gaps = stretches.map(([firstSeq, lastSeq]) => TranscriptPage.gap(firstSeq, lastSeq, height));
    const first = this.#pages[0]?.element ?? this.#line.element;
    this.#pages.unshift(...gaps);
    for (const { element } of gaps) this.#container.insertBefore(element, first);
    const page = this.prependEvents(events);
    for (const { seq, time, response } of ends) {
      page.endsElsewhere.set(endKey(response), seq);
      this.#apply(page, response, { seq, time: new Date(time) }, "refill");
    }
    return gaps;
  }

  /** What the event with that number wrote, if it is in the document. */
  blockOf(seq) {
    const found = [...this.#entries.values()].find((entry) => entry.seq === seq || entry.endSeq === seq);
    return found?.node ?? null;
  }

  /** Empties a page that is far away. Returns whether that was possible. */
  unloadPage(page) {
    if (!page.isLoaded || page.open > 0 || page === this.#pages.at(-1)) return false;
    for (const [key, entry] of this.#entries) if (entry.page === page) this.#entries.delete(key);
    this.#askAgain.forget(page);
    this.#heldQueue.forget(page);
    page.unload();
    return true;
  }

  /** Fills an emptied page again; `events` are its own, followed by the ends of its blocks on later pages. */
  refillPage(page, events) {
    const mode = page.isGap ? "older" : "refill";
    page.beginRefill();
    this.#fill(page, events, mode);
    this.follow.watch(page.element);
  }

  /** The place before which nothing is. */
  get firstSeq() {
    return this.#pages.find((page) => page.firstSeq > 0)?.firstSeq ?? 0;
  }

  #lastPage() {
    let page = this.#pages.at(-1);
    if (!page || (page.keys.size >= BLOCKS_PER_PAGE && page.lastSeq > 0)) {
      const { turn = null, queued = [], retries = null, lastDay = null } = page ?? {};
      page = new TranscriptPage();
      Object.assign(page, { turn, queued, retries, lastDay, firstDay: lastDay });
      this.#pages.push(page);
      this.#container.insertBefore(page.element, this.#line.element);
      this.follow.watch(page.element);
      // The log is empty so far.
      if (this.#pages.length === 1) this.#placeRemarks(page, 0, Infinity);
    }
    return page;
  }

  #fill(page, events, mode) {
    const nextPage = this.#pages[this.#pages.indexOf(page) + 1]?.firstSeq || Infinity;
    events.forEach(({ seq, time, response }, index) => {
      if (seq === 1) this.#placeRemarks(page, 0, 1);
      this.#apply(page, response, { seq, time: new Date(time) }, mode);
      // What follows the page's own events are the ends of its blocks on later pages.
      if (seq <= page.lastSeq) this.#placeRemarks(page, seq, Math.min(events[index + 1]?.seq ?? Infinity, nextPage));
    });
    this.#prependOlderData();
    joinTurns(this.#pages);
    this.#separatePages();
  }

  /** Puts at the end of a page what follows an event before `end`; the events between them are gone from the log. */
  #placeRemarks(page, start, end) {
    page.element.append(...this.#remarks.filter(({ after }) => after >= start && after < end).map(({ element }) => element));
  }

  #apply(page, data, mark, mode) {
    if (mode !== "refill") {
      page.noteEvent(mark.seq);
      this.#askAgain.note(mark.seq, data);
      this.#heldQueue.note(mark.seq, data);
    }
    const name = data.callback;
    // What follows a page's own events are the ends of its blocks on later pages.
    if (mode !== "refill" || mark.seq <= page.lastSeq) this.#noteDay(page, mark.time);
    this.#promptEdits.note(mark.seq, data);
    if (name in BLOCK_CALLBACKS) this.#applyToBlock(page, data, mark, mode);
    else if (name in REQUEST_CALLBACKS) this.#applyToRequest(page, data, mark, mode);
    else if (data.sessionError !== undefined) this.#addFailure(page, data, mark);
    else if (name === "onUserPrompt") this.#addPrompt(page, data, mark);
    else if (name === "onGeneratedUserPrompt") this.#addGeneratedPrompt(page, data, mark);
    else if (name === "onPromptChanged" || name === "onPromptCancelled") this.#showEdit(data.promptId, mark);
    else if (name === "onAgentStart") this.#beginTurn(page, data, mark);
    else if (name === "onUsage") turnAt(page).usage = addUsage(turnAt(page).usage, data);
    else if (name === "onNotice") this.#addNotice(page, data, mark);
    else if (name === "onIdle") this.#endTurn(page, mark);
  }

  // Days.

  #noteDay(page, time) {
    const day = dayOf(time);
    if (!day || day === page.lastDay) return;
    if (page.lastDay) page.element.append(daySeparator(day));
    page.firstDay ??= day;
    page.lastDay = day;
  }

  /** A page that begins with another day than the one before it ends with says so. */
  #separatePages() {
    this.#pages.forEach((page, index) => {
      const before = this.#pages[index - 1]?.lastDay;
      const begins = page.isLoaded && before && page.firstDay && before !== page.firstDay;
      if (begins && !page.separator) page.element.prepend((page.separator = daySeparator(page.firstDay)));
      else if (!begins && page.separator) {
        page.separator.remove();
        page.separator = null;
      }
    });
  }

  // Prompts and turns.

  /** A prompt of a person, or of a task: `author` says whose in its title. */
  #addPrompt(page, { promptId, text, queued, attachments }, mark, author = "") {
    const edit = this.#promptEdits.of(promptId, text, mark.seq);
    const steers = !queued && page.turn !== null;
    const state = edit.isCancelled ? "cancelled" : queued && !edit.hasBegun ? "queued" : steers ? "steering" : "";
    const title = [author, state].filter((word) => word !== "").join(", ");
    const entry = this.#addUserBlock(page, `User-${promptId}`, edit.text, title, { ...mark, seq: edit.seq });
    if (entry) {
      Object.assign(entry, { author, seq: mark.seq, endSeq: edit.seq });
      if (mark.seq) entry.node.divElement.dataset.seq = String(mark.seq);
      entry.node.divElement.append(...[attachmentList(this.#sessionId, attachments)].filter(Boolean));
      if (queued && !edit.isCancelled) page.queued.push(entry);
    }
    if (!page.turn && !queued) page.turn = new Turn(mark.time);
  }

  /** A queued prompt was changed or cancelled. */
  #showEdit(promptId, { seq }) {
    const entry = this.#entries.get(`User-${promptId}`);
    if (!entry) return;
    const { node, author = "", page } = entry;
    const edit = this.#promptEdits.of(promptId, node.data, seq);
    if (edit.isCancelled) {
      node.title = [author, "cancelled"].filter((word) => word !== "").join(", ");
      for (const one of [page, this.#pages.at(-1)]) {
        const at = one.queued.indexOf(entry);
        if (at >= 0) one.queued.splice(at, 1);
      }
    }
    if (edit.text === node.data) return;
    entry.endSeq = edit.seq;
    node.replaceData(edit.text);
    if (edit.seq && this.#sessionId) node.setSource(this.#rendered.loader(edit.seq), { startRaw: true });
  }

  #addGeneratedPrompt(page, { prompt, promptId, queued }, mark) {
    if (promptId) this.#addPrompt(page, { promptId, text: prompt, queued }, mark, "Task");
    else if (prompt.trim() !== "") this.#addUserBlock(page, `User-generated-${mark.seq}`, prompt, "generated", mark);
  }

  #addNotice(page, data, mark) {
    if (data.kind === "retrying") {
      page.retries ??= new RetryLine();
      page.retries.add(data, mark.time);
      page.element.append(page.retries.element);
      return;
    }
    if (turnAt(page).says(data)) return;
    const buttons = { interrupted: this.#askAgain, "queue-held": this.#heldQueue };
    page.element.append(noticeLine(data, mark.time, buttons[data.kind]?.button(mark.seq, page) ?? null));
  }

  #addFailure(page, data, mark) {
    const again = this.#askAgain.button(mark.seq, page, { label: "Retry" });
    const line = new FailureLine(data, mark.time, { again, canChangeModel: this.#requestActions?.canChangeModel === true });
    turnAt(page).failure = line;
    page.element.append(line.element);
  }

  #addUserBlock(page, key, text, title, mark) {
    if (this.#entries.has(key)) return null;
    const node = new MessageBlock("User");
    node.title = title;
    node.replaceData(text);
    node.complete();
    if (mark.time) node.setMoment(mark.time);
    if (mark.seq) node.divElement.dataset.seq = String(mark.seq);
    if (mark.seq && this.#sessionId) node.setSource(this.#rendered.loader(mark.seq), { startRaw: true });
    const { edit } = this.#requestActions ?? {};
    if (edit) node.addTool({ label: "Edit and resend", title: "Edit and resend (e)", picture: "edit", className: "message-block-edit", run: () => edit(node.data) });
    return this.#add(page, key, node, { started: mark.time, ended: true, seq: mark.seq });
  }

  #beginTurn(page, { turnId }, mark) {
    // A later step of a turn that began on an earlier page.
    if (page.turn || /^turn-\d+\.\d+$/.test(turnId)) return;
    page.turn = new Turn(mark.time);
    // A prompt that waited begins its turn now: it stands where the turn does.
    const promptId = promptOfTurn(turnId);
    const at = promptId ? page.queued.findIndex(({ key }) => key === `User-${promptId}`) : 0;
    const [waited] = at >= 0 ? page.queued.splice(at, 1) : [];
    if (!waited) return;
    waited.node.title = waited.author;
    if (waited.page === page) page.element.append(waited.node.divElement);
  }

  #endTurn(page, mark) {
    const end = new TurnEnd(page.turn, mark.time, mark.seq ? this.#endActions(mark.seq) : {});
    if (!page.turn) turnAt(page).end = end;
    page.element.append(end.element);
    page.turn = null;
    page.hasEnd = true;
    page.retries = null;
  }

  #endActions(seq) {
    const { fork, turnChanges } = this.#requestActions ?? {};
    const turn = () => {
      const { promptId, ranTools } = this.#askAgain.turnOf(seq);
      return promptId && ranTools ? turnOfPrompt(promptId) : null;
    };
    return { fork: fork ? () => fork(seq) : null, watch: turnChanges ? (end) => turnChanges.watch(end.element, { turn, usage: () => end.usage, show: (link) => end.showChanges(link) }) : null };
  }

  // Blocks.

  #applyToBlock(page, data, mark, mode) {
    const [part, type, idName] = BLOCK_CALLBACKS[data.callback];
    const key = `${type}-${data[idName]}`;
    let entry = this.#entries.get(key);
    if (part === "start") {
      if (type === "Message" && !entry) turnAt(page).partials.fold();
      entry = this.#beginBlock(page, key, type, data, mark);
    } else if (!entry) {
      // The beginning is on a page before this one. What is known is shown, and moves when that page comes.
      if (mode === "refill" && !this.#headless.has(key)) return;
      entry = this.#add(page, key, new MessageBlock(type), { started: null, tool: type === "Tool" ? {} : null });
      if (!this.#headless.has(key)) this.#headless.set(key, { end: null });
    }
    if (part === "data" && mode === "older") this.#olderData.set(key, (this.#olderData.get(key) ?? "") + data.delta);
    else if (part === "data" && !entry.ended) this.#addData(entry, data.delta);
    if (part === "end" && !entry.ended) {
      if (entry.page !== page && mode !== "refill") entry.page.endsElsewhere.set(key, mark.seq);
      if (this.#headless.has(key)) this.#headless.get(key).end = { data, mark };
      this.#endBlock(entry, data, mark, mode);
      if (data.incomplete && type === "Message") turnAt(page).partials.add(entry.node);
      if (type === "Message" && turnAt(page).repeatsDenial(data.completeContent)) entry.node.divElement.hidden = true;
    }
  }

  #beginBlock(page, key, type, data, mark) {
    const known = this.#entries.get(key);
    const headless = this.#headless.get(key);
    this.#headless.delete(key);
    let entry = known;
    if (known && headless) this.#move(known, page);
    else if (known) return known;
    else entry = this.#add(page, key, new MessageBlock(type), { tool: type === "Tool" ? {} : null });
    entry.started = mark.time;
    entry.seq = mark.seq;
    // Agents announce reasoning that they then keep to themselves.
    if (type === "Reasoning" && entry.node.data === "") entry.node.divElement.hidden = true;
    entry.node.divElement.classList.toggle("nested", Boolean(data.parentToolCallId));
    if (type === "Tool") {
      this.#describeTool(entry, data);
      this.#showWait(data.toolCallId);
    }
    if (headless?.end) {
      page.endsElsewhere.set(key, headless.end.mark.seq);
      if (entry.ended) this.#showOutcome(entry, headless.end.data, headless.end.mark);
      else this.#endBlock(entry, headless.end.data, headless.end.mark, "older");
    }
    return entry;
  }

  #describeTool(entry, { toolName, toolArguments }) {
    const parameters = parseArguments(toolArguments);
    entry.tool = { ...entry.tool, toolName, toolArguments };
    entry.node.title = toolTitle(toolName, parameters);
    entry.node.setSummary(toolSummary(toolName, parameters, this.#requestActions?.folder));
    this.#showReceived(entry);
  }

  /** What a tool call that still runs shows: its output. The line that matters of its arguments is in the header. */
  #showReceived({ node, tool }) {
    if (node.isCompleted) return;
    const { toolArguments, output = "" } = tool;
    const before = toolArguments ? `${toolArguments}\n\n` : "";
    if (before + output !== "") node.replaceData(before + output, { quiet: before.length });
    node.divElement.classList.toggle("one-line", output === "");
  }

  #addData(entry, delta) {
    if (entry.tool) entry.tool.output = (entry.tool.output ?? "") + delta;
    entry.node.appendData(delta);
    entry.node.divElement.classList.remove("one-line");
    if (delta.trim() !== "") entry.node.divElement.hidden = false;
  }

  /** What a page of the past has of blocks that still receive belongs before what came since. */
  #prependOlderData() {
    for (const [key, older] of this.#olderData) {
      const entry = this.#entries.get(key);
      if (!entry || entry.ended) continue;
      const { node, tool } = entry;
      if (tool) {
        tool.output = older + (tool.output ?? "");
        this.#showReceived(entry);
      } else node.replaceData(older + node.data);
      if (older.trim() !== "") node.divElement.hidden = false;
    }
    this.#olderData.clear();
  }

  #endBlock(entry, data, mark, mode) {
    const { node } = entry;
    entry.ended = true;
    entry.endSeq = mark.seq;
    entry.page.open -= 1;
    if (mark.seq && this.#sessionId) node.setSource(this.#rendered.loader(mark.seq, { ahead: node.blockType === "Message" }), entry.tool ? { renderedName: "Formatted" } : {});
    this.#showOutcome(entry, data, mark);
    if (mode === "live" && node.blockType === "Message") node.onFinished = () => this.#isLast(entry) && this.follow.finished(node.divElement);
    node.complete();
  }

  /** Whether nothing that is being read has come after it. */
  #isLast({ node, page }) {
    if (page !== this.#pages.at(-1)) return false;
    for (let next = node.divElement.nextElementSibling; next; next = next.nextElementSibling) {
      if (next.matches(".message-block:not([hidden]), .request-block.waiting")) return false;
    }
    return true;
  }

  #showOutcome(entry, data, mark) {
    const { node, tool } = entry;
    if (tool) {
      const { text, kind } = toolOutcome(data);
      node.setOutcome(text, kind);
      node.replaceData(toolText({ ...tool, result: data.result, error: data.error }));
    } else {
      node.replaceData(data.completeContent);
      if (node.blockType === "Reasoning") node.setSummary(firstLine(data.completeContent));
      if (data.incomplete) node.markIncomplete();
      node.divElement.hidden = data.completeContent.trim() === "" && (node.blockType === "Reasoning" || data.incomplete === true);
    }
    node.setTimes(entry.started, mark.time);
  }

  // Requests.

  #applyToRequest(page, data, mark, mode) {
    const [part, type, Block] = REQUEST_CALLBACKS[data.callback];
    const key = `${type}-${data.requestId}`;
    const entry = this.#entries.get(key);
    if (part === "start") {
      if (entry) return;
      const added = this.#add(page, key, new Block(data, this.#requestActions, mark.time), { started: mark.time, seq: mark.seq });
      if (mark.seq && this.#sessionId && added.node.wantsRendering) added.node.renderWith(() => this.#rendered.loader(mark.seq)(true));
      const answer = this.#headless.get(key)?.end;
      this.#headless.delete(key);
      if (answer) {
        page.endsElsewhere.set(key, answer.mark.seq);
        this.#settleRequest(added, answer.data, answer.mark);
      } else this.#showWait(data.toolCallId);
    } else if (!entry) {
      if (mode !== "refill") this.#headless.set(key, { end: { data, mark } });
    } else if (!entry.ended) {
      if (entry.page !== page && mode !== "refill") entry.page.endsElsewhere.set(key, mark.seq);
      if (data.decision === "deny" || data.decision === "cancelled") turnAt(page).wasDenied = true;
      this.#settleRequest(entry, data, mark);
    }
  }

  #settleRequest(entry, data, mark) {
    entry.ended = true;
    entry.page.open -= 1;
    const { node } = entry;
    // Nobody was asked: what was allowed stands in the tool call.
    node.divElement.hidden = wasNeverOpen(entry, data, mark);
    const moves = !node.isHeld;
    node.answered(data, mark.time, node.isLost(data) ? this.#askAgain.button(entry.seq, entry.page, { isRequest: true }) : null);
    // What is below moves up, under the pointer that has just pressed a button.
    if (moves) for (const other of this.openRequests) other.hold();
    this.follow.answered(node.divElement);
    this.#showWait(node.request.toolCallId);
  }

  /** A tool does not run while its permission is asked for. */
  #showWait(toolCallId) {
    const tool = toolCallId ? this.#entries.get(`Tool-${toolCallId}`) : null;
    tool?.node.divElement.classList.toggle("asks", this.openRequests.some(({ request }) => request.toolCallId === toolCallId));
  }

  // Places.

  #add(page, key, node, { started = null, ended = false, tool = null, seq = 0 }) {
    const entry = { key, node, page, started, ended, tool, seq };
    if (!ended) page.open += 1;
    page.keys.add(key);
    page.element.append(node.divElement);
    this.#entries.set(key, entry);
    return entry;
  }

  #move(entry, page) {
    entry.page.keys.delete(entry.key);
    if (!entry.ended) entry.page.open -= 1;
    entry.page = page;
    page.keys.add(entry.key);
    if (!entry.ended) page.open += 1;
    page.element.append(entry.node.divElement);
  }
}

/** The turn at the end of a page; if its beginning is not known, what is known of it. */
function turnAt(page) {
  if (page.turn) return page.turn;
  return page.hasEnd ? (page.strayTurn ??= new Turn(null)) : (page.headTurn ??= new Turn(null));
}

/** Whether the session's rules or mode allowed a request as soon as it came. */
function wasNeverOpen({ seq }, { decision, by }, mark) {
  return seq > 0 && mark.seq === seq + 1 && decision?.startsWith("allow") && (by === "rule" || by === "mode");
}

/** The key of the block or request that an event ends. */
function endKey(data) {
  const [, type, idName] = BLOCK_CALLBACKS[data.callback] ?? [null, REQUEST_CALLBACKS[data.callback]?.[1], "requestId"];
  return `${type}-${data[idName]}`;
}
