// The request part: writing, sending, queueing, steering, interrupting.

import { byId, setText } from "../lib/dom.js";
import { ask, sessionPath } from "../lib/api.js";
import { announce } from "../lib/announcer.js";
import { attachedFiles } from "./attachedFiles.js";
import { Attempts } from "../lib/attempts.js";
import { bytes } from "../lib/format.js";
import { keepDraft, readDraft, showDraftNote } from "../lib/drafts.js";
import { PromptHistory } from "./promptHistory.js";
import { UnansweredPrompt } from "./unansweredPrompt.js";

/** The server's default limit on a prompt; a server with a lower limit returns an error. */
const LONGEST_TEXT = 1024 * 1024;

const textarea = byId("request-textarea");
const buttons = {
  send: byId("send-button"),
  queue: byId("queue-button"),
  steer: byId("steer-button"),
  interrupt: byId("interrupt-button"),
};
/** Problems of sessions that the person had left by then: session → `{ text, unreachable }`. */
const unseenProblems = new Map();
/** Whose text the box has. */
let shownSession = null;
/** Whether the problem that is shown goes away when the server can be reached again. */
let isUnreachable = false;

export class Composer {
  history = new PromptHistory();
  #sessionId;
  /** Shows the files, once there are any. */
  #attachments = null;
  #working = false;
  #sending = false;
  #canSteer = false;
  /** The tasks that can be chosen, once they are known. */
  #tasks = null;
  #left = new AbortController();
  /** Prompts that are in the session's log, and the one that is on its way there. */
  #arrived = new Set();
  #awaited = null;
  #attempts = new Attempts();
  #unanswered;
  /** The number of the last event that the page has; null while that is unknown. */
  #lastSeq;
  /** Completes files, commands and templates, once it is loaded. */
  #completion = null;
  /** `(text) → text`: a template that is named by its command becomes its text. */
  #expand = (text) => text;

  /** `lastSeq()` returns the number of the last event that the page has, or null. */
  constructor(sessionId, lastSeq) {
    this.#sessionId = sessionId;
    this.#lastSeq = lastSeq;
    this.#unanswered = new UnansweredPrompt(sessionId);
    shownSession = sessionId;
    textarea.value = readDraft(sessionId);
    textarea.placeholder = "What should the agent do?";
    const { text = "", unreachable } = unseenProblems.get(sessionId) ?? {};
    this.say(text, { unreachable });
    unseenProblems.delete(sessionId);
    this.#hint("");
    this.setWithdraws(0);
    showDraftNote(byId("draft-note"), sessionId);
    this.#listen();
    this.#show();
    this.#showFiles();
  }

  /** How many requests are open although their turn has ended: a new prompt takes the place of their answers. */
  setWithdraws(requests) {
    const text = requests > 1 ? `The agent is waiting for ${requests} answers. Sending a new prompt cancels its requests.` : "The agent is waiting for your answer. Sending a new prompt cancels its request.";
    setText(byId("request-note"), requests > 0 ? text : "");
  }

  /** Whether a turn runs: then requests queue or steer. */
  setWorking(working) {
    if (this.#working === working) return;
    this.#working = working;
    if (!working) this.#hint("");
    this.#show();
  }

  /** The server can be reached again: what said otherwise is over. */
  connected() {
    if (isUnreachable) this.say("");
  }

  /** `completion` is a `Completion`; `expand(text)` replaces the command of a template with its text. */
  setCompletion(completion, expand) {
    this.#completion = completion;
    this.#expand = expand;
  }

  get sessionId() {
    return this.#sessionId;
  }

  get text() {
    return textarea.value;
  }

  /** Replaces the text as if it had been typed; `selection` is what is selected in it. */
  setText(text, selection = [text.length, text.length]) {
    textarea.value = text;
    textarea.setSelectionRange(...selection);
    this.#edited();
    this.focus();
  }

  /** A prompt is at the end of the session's log: `{ seq, promptId, text, attachments }`. */
  promptArrived(prompt) {
    const { promptId, text } = prompt;
    const hasReply = this.#awaited === promptId;
    this.#arrived.add(promptId);
    if (hasReply) this.#awaited = null;
    this.history.add(text);
    if (!hasReply) this.promptFound(prompt);
    this.#show();
  }

  /** The number of the event after which a request without a reply may be in the log; null if there is none to look for. */
  get unansweredAfter() {
    return this.#unanswered.current?.after ?? null;
  }

  /** A prompt is somewhere in the session's log. It may be the request whose reply was lost: then it was sent after all. */
  promptFound(prompt) {
    if (!this.#unanswered.is(prompt)) return;
    const request = this.#unanswered.current;
    request.hasArrived = true;
    // Whoever is sending it takes it out of the box.
    if (!this.#sending) this.#settle(request);
  }

  /** `tasks` is a `TaskSelect`: with a task chosen, sending starts the task. */
  setTasks(tasks) {
    this.#tasks = tasks;
  }

  setCanSteer(canSteer) {
    this.#canSteer = canSteer;
    this.#show();
  }

  focus() {
    textarea.focus({ preventScroll: true });
  }

  /** Shows a problem next to the request; with `unreachable`, until the server can be reached again. */
  say(text, { unreachable = false } = {}) {
    if (this.#hasLeft) {
      if (text) this.#sayElsewhere(text, unreachable);
      return;
    }
    isUnreachable = unreachable;
    setText(byId("request-problem"), text);
  }

  /** The person has left the session, and may be in another one or back. */
  #sayElsewhere(text, unreachable) {
    const isBack = shownSession === this.#sessionId;
    if (!isBack) unseenProblems.set(this.#sessionId, { text, unreachable });
    if (shownSession === null) {
      announce(text);
      return;
    }
    isUnreachable = unreachable;
    setText(byId("request-problem"), isBack ? text : `In another session: ${text}`);
  }

  /** Says what to do instead. */
  #hint(text) {
    if (this.#hasLeft) return;
    setText(byId("request-hint"), text);
  }

  /** Asks for files to send along. */
  chooseFiles() {
    byId("attach-input").click();
  }

  /** Stops listening; the next session has its own composer. */
  leave() {
    this.#left.abort();
    shownSession = null;
    this.#attachments?.hide();
    this.#completion?.leave();
  }

  /** Sends the prompt of a turn that failed or was interrupted again. Returns whether it was accepted. */
  async askAgain(promptId) {
    const content = `ask again ${promptId}`;
    try {
      const reply = await ask(sessionPath(this.#sessionId, "ask-again"), { json: { promptId }, headers: { "Idempotency-Key": this.#attempts.keyFor(content) } });
      this.#attempts.arrived(content);
      this.#await(reply.promptId);
      this.say("");
      return true;
    } catch (problem) {
      this.say(`Could not ask again: ${problem.message}`);
      return false;
    } finally {
      this.#show();
    }
  }

  async interrupt() {
    const hadFocus = document.activeElement === buttons.interrupt;
    buttons.interrupt.disabled = true;
    try {
      await ask(sessionPath(this.#sessionId, "interrupt"), { method: "POST" });
    } catch (problem) {
      this.say(`Could not interrupt the turn: ${problem.message}`);
    }
    buttons.interrupt.disabled = false;
    // A disabled button loses the focus. On touch the keyboard would cover what was interrupted.
    if (hadFocus && document.activeElement === document.body && !isTouch()) this.focus();
  }

  get #hasLeft() {
    return this.#left.signal.aborted;
  }

  #listen() {
    const { signal } = this.#left;
    attachedFiles.addEventListener("change", ({ detail }) => detail === this.#sessionId && this.#showFiles(), { signal });
    const on = (element, kind, listener) => element.addEventListener(kind, listener, { signal });
    on(textarea, "input", () => this.#edited());
    on(textarea, "keydown", (event) => this.#key(event));
    on(textarea, "paste", (event) => this.#paste(event));
    on(buttons.send, "click", () => this.#send("queue", buttons.send));
    on(buttons.queue, "click", () => this.#send("queue", buttons.queue));
    on(buttons.steer, "click", () => this.#send("steer", buttons.steer));
    on(buttons.interrupt, "click", () => this.interrupt());

    const input = byId("attach-input");
    on(byId("attach-button"), "click", () => this.chooseFiles());
    on(input, "change", () => {
      this.#attach([...input.files]);
      input.value = "";
    });
    const view = byId("session-ui");
    const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
    on(view, "dragover", (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      view.classList.add("dropping");
    });
    on(view, "dragleave", (event) => !view.contains(event.relatedTarget) && view.classList.remove("dropping"));
    on(view, "drop", (event) => {
      view.classList.remove("dropping");
      if (!carriesFiles(event)) return;
      event.preventDefault();
      this.#attach([...event.dataTransfer.files]);
    });
  }

  #edited() {
    if (this.history.isFilling) return;
    this.say("");
    this.#hint("");
    this.#keepDraft();
  }

  #keepDraft(text = textarea.value) {
    keepDraft(this.#sessionId, text);
    this.#unanswered.keepWith(text);
    showDraftNote(byId("draft-note"), this.#sessionId);
  }

  #key(event) {
    if (this.#completion?.handleKey(event)) {
      event.preventDefault();
      // Escape would also close a panel.
      event.stopPropagation();
      return undefined;
    }
    if (event.key === "Enter" && !event.isComposing) {
      const control = event.ctrlKey || event.metaKey;
      if (control && event.shiftKey) return this.#press(event, buttons.steer);
      if (control) return this.#press(event, buttons.send);
      if (event.altKey) return this.#press(event, this.#working ? buttons.queue : buttons.send);
    } else if (this.history.handleKey(event, textarea)) {
      event.preventDefault();
      // The arrow keys are for the history, whatever the text begins with.
      this.#completion?.close();
      // A reload brings back what is being written, not an earlier prompt that was looked at.
      if (this.history.isAtEnd) this.#keepDraft();
    }
    return undefined;
  }

  #press(event, button) {
    event.preventDefault();
    if (!button.disabled && !button.hidden) button.click();
    else if (this.#sending) this.#hint("Still sending your last request …");
    else if (!buttons.queue.hidden) this.#hint(`The agent is working. Alt+Enter queues${this.#canSteer ? ", Ctrl+Shift+Enter steers" : " your request"}.`);
  }

  #paste(event) {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length > 0) {
      event.preventDefault();
      this.#attach(files);
      return;
    }
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length > LONGEST_TEXT) {
      event.preventDefault();
      this.say(`Not pasted: the text is ${bytes(text.length)}, and the limit is ${bytes(LONGEST_TEXT)}. Put it in a file in the working directory and mention the file.`);
    }
  }

  async #attach(files) {
    (await this.#loadAttachments()).add(files);
    if (!this.#hasLeft) this.focus();
  }

  async #showFiles() {
    if (!this.#attachments && attachedFiles.of(this.#sessionId).length === 0) return;
    const attachments = await this.#loadAttachments();
    if (!this.#hasLeft) attachments.show();
  }

  async #loadAttachments() {
    const { Attachments } = await import("./attachments.js");
    this.#attachments ??= new Attachments(this.#sessionId, (text) => this.say(text));
    return this.#attachments;
  }

  async #send(mode, button) {
    const written = textarea.value;
    const text = this.#expand(written);
    if (this.#sending || button.disabled) return;
    if (this.#tasks?.chosen && button === buttons.send) {
      await this.#startTask(written, text);
      return;
    }
    const files = attachedFiles.of(this.#sessionId);
    if (!text.trim() && files.length === 0) {
      this.focus();
      return;
    }
    const size = new Blob([text]).size;
    if (size > LONGEST_TEXT) {
      this.say(`Not sent: the request is ${bytes(size)}, and the limit is ${bytes(LONGEST_TEXT)}. Put the long part in a file in the working directory and mention the file.`);
      return;
    }
    this.#sending = true;
    this.say("");
    this.#hint("");
    this.#show();
    let sent = null;
    try {
      const attachments = files.length > 0 ? await encodedFiles(files) : [];
      sent = this.#unanswered.begin({ written, text, files: attachments.map(({ name, data }) => [name, data.length]), after: this.#lastSeq(), attached: files });
      const { promptId } = await ask(sessionPath(this.#sessionId, "prompt"), {
        json: { text, mode, attachments: attachments.length > 0 ? attachments : undefined },
        headers: { "Idempotency-Key": sent.request.key },
      });
      // A repeated prompt may be far back in the log, which then says nothing more of it.
      if (!sent.isRepeated) this.#await(promptId);
      this.#settle(sent.request);
    } catch (problem) {
      this.#sendingFailed(problem, sent?.request);
    } finally {
      this.#sending = false;
      this.#hint("");
      this.#show();
    }
  }

  /** Without a reply, only the log says whether the request has arrived. It may have said so already. */
  #sendingFailed(problem, request) {
    if (request?.hasArrived) {
      this.#settle(request);
      return;
    }
    if (problem.isUnreachable) {
      this.say(`Your request may not have been sent: ${problem.message} Your text is kept, and sending it again does not send it twice.`, { unreachable: true });
      return;
    }
    if (request) this.#unanswered.forget(request);
    this.say(`Not sent: ${problem.message}`);
  }

  /** The request was sent: it leaves the box, the draft and the files, and nothing says otherwise. */
  #settle(request) {
    // The reply and the log may both say so, and new text may begin like the old one.
    if (request.isSettled) return;
    request.isSettled = true;
    this.#unanswered.forget(request);
    this.#accepted(request.written);
    attachedFiles.remove(this.#sessionId, request.attached);
    if (unseenProblems.get(this.#sessionId)?.unreachable) unseenProblems.delete(this.#sessionId);
    if (!isUnreachable || shownSession !== this.#sessionId) return;
    isUnreachable = false;
    setText(byId("request-problem"), "");
  }

  /** A task takes no files: those that are attached wait for a request. */
  async #startTask(written, text) {
    if (this.#tasks.chosen.requireUserInput && !text.trim()) {
      this.say("This task needs input.");
      this.focus();
      return;
    }
    this.#sending = true;
    this.say("");
    this.#show();
    try {
      await this.#tasks.start(text);
      this.#accepted(written);
    } catch (problem) {
      this.say(`Could not start the task: ${problem.message}`);
    } finally {
      this.#sending = false;
      this.#hint("");
      this.#show();
    }
  }

  /** The turn may end before the reply to its prompt arrives. */
  #await(promptId) {
    if (!this.#arrived.has(promptId)) this.#awaited = promptId;
  }

  /** The person may have kept typing while the request was being sent, or gone to another session, or come back. */
  #accepted(text) {
    const rest = (now) => (now.startsWith(text) ? now.slice(text.length) : now);
    const draft = readDraft(this.#sessionId);
    if (shownSession !== this.#sessionId) {
      keepDraft(this.#sessionId, rest(draft));
      return;
    }
    const isInBox = textarea.value.startsWith(text);
    if (!isInBox && !draft.startsWith(text)) return;
    this.history.sent();
    this.#completion?.close();
    if (isInBox) textarea.value = rest(textarea.value);
    // Otherwise the box shows an earlier prompt.
    this.#keepDraft(isInBox ? textarea.value : rest(draft));
  }

  #show() {
    if (this.#hasLeft) return;
    const { send, queue, steer, interrupt } = buttons;
    const busy = this.#working || this.#awaited !== null;
    send.disabled = busy || this.#sending;
    for (const button of [queue, steer]) button.disabled = this.#sending;
    const losesFocus = !busy && [queue, steer, interrupt].includes(document.activeElement);
    for (const button of [queue, steer, interrupt]) button.hidden = !busy;
    if (losesFocus && !isTouch()) this.focus();
    if (!this.#canSteer) {
      steer.disabled = true;
      steer.title = "This agent can't be steered while it works; queue the request instead";
    } else {
      steer.title = "Send to the agent during the running turn";
    }
  }
}

function isTouch() {
  return matchMedia("(pointer: coarse)").matches;
}

async function encodedFiles(files) {
  const { encoded } = await import("./attachments.js");
  return encoded(files);
}
