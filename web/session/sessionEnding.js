// The end of a session on the page: closed, deleted, not found, or stopped with the server.

import { ask, sessionPath } from "../lib/api.js";
import { setupAddress } from "../lib/address.js";
import { attachedFiles } from "../composer/attachedFiles.js";
import { byId, make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { relativeTime } from "../lib/relativeTime.js";
import { BUSY_STATES } from "../lib/states.js";
import { UnsentText } from "./unsentText.js";
import { confirmStop, stopServer } from "../lib/stopServer.js";

export class SessionEnding {
  #view;
  #isDeleted = false;
  /** Whether a request was being written when its part went. A session is closed before it is deleted. */
  #wasWriting = false;
  /** Why the server was not stopped. The session may have been closed by then, and with it the request part. */
  #problem = "";

  constructor(view) {
    this.#view = view;
    const { signal } = view;
    byId("close-session-button").addEventListener("click", () => this.#close(), { signal });
    byId("stop-server-button").addEventListener("click", () => this.#stopServer(), { signal });
    for (const id of ["close-session-button", "stop-server-button"]) byId(id).disabled = false;
  }

  leave() {
    this.#showParts(true);
  }

  /** Shows the request part, or that the session is closed. */
  show() {
    if (this.#isDeleted) return;
    const { state, closedAt } = this.#view.details;
    if (state !== "closed") {
      this.#showParts(true);
      if (this.#problem) this.#view.composer.say(this.#problem);
      return;
    }
    this.#ended(
      [this.#problem && `${this.#problem} `, "This session is closed", ...(closedAt ? [" (", relativeTime(closedAt), ")"] : []), ". Its history is kept. You can close this page."],
      make("button", { type: "button", class: "primary", id: "reopen-button", text: "Reopen", on: { click: (event) => this.#reopen(event.target) } }),
    );
  }

  /** The session was deleted while the page showed it. */
  deleted() {
    // The stream and the poll both say so.
    const files = attachedFiles.take(this.#view.sessionId);
    if (this.#isDeleted || this.#view.hasLeft) return;
    this.#isDeleted = true;
    const unsent = this.#unsentText();
    for (const card of this.#view.renderer.openRequests) closeCard(card);
    // Its last state was that of an agent which no longer runs, and nothing can be told to the server any more.
    this.#view.renderer.setWorking(false);
    this.#view.update({ state: "closed", stateDetail: null, unread: false });
    this.#ended(["This session was deleted. Only what you see here is left.", notSent(files)]);
    if (!unsent) return;
    byId("closed-part").append(unsent.element);
    // The box keeps its selection, and nothing has the focus unless somebody went elsewhere.
    const box = byId("request-textarea");
    if (this.#wasWriting && [box, document.body].includes(document.activeElement)) unsent.takeFocus(box);
  }

  async neverThere() {
    const { showFinished } = await import("./finished.js");
    showFinished({
      title: `${this.#view.sessionId} not found`,
      text: `It was deleted or never existed.${notSent(attachedFiles.take(this.#view.sessionId))}`,
      action: make("div", { class: "finished-actions" }, homeLink(), this.#unsentText()?.element),
    });
  }

  #unsentText() {
    const { sessionId, composer, details } = this.#view;
    return composer.text.trim() ? new UnsentText(sessionId, composer.text, details?.workingDirectory ?? null) : null;
  }

  #ended(words, ...actions) {
    const said = make("p", { role: "status" }, ...words);
    byId("closed-part").replaceChildren(said, ...actions, homeLink());
    this.#showParts(false);
  }

  #showParts(open) {
    byId("close-session-button").disabled = false;
    this.#wasWriting = !open && (this.#wasWriting || document.activeElement === byId("request-textarea"));
    byId("request-part").hidden = !open;
    byId("resize-bar").hidden = !open;
    byId("closed-part").hidden = open;
  }

  async #close() {
    const button = byId("close-session-button");
    button.disabled = true;
    try {
      if (await this.#confirmClose()) {
        await ask(sessionPath(this.#view.sessionId, "stop"), { method: "POST" });
        // Who follows the log is shown its end first: what became of the turn, of requests and of queued prompts.
        if (!this.#view.canReceive) {
          await this.#view.refresh();
          this.show();
        }
        window.close();
        return;
      }
    } catch (problem) {
      this.#view.composer.say(`Could not close the session: ${problem.message}`);
    }
    button.disabled = false;
  }

  async #confirmClose() {
    const ends = whatEnds(this.#view.details);
    if (ends === "") return true;
    const { confirmAction } = await import("../lib/dialog.js");
    return confirmAction({ title: "Close this session?", text: `${ends} Its history is kept.`, action: "Close the session", keep: "Keep it open" });
  }

  async #reopen(button) {
    button.disabled = true;
    this.#problem = "";
    try {
      await ask(sessionPath(this.#view.sessionId, "reopen"), { method: "POST" });
      await this.#view.resume();
      this.#view.composer.focus();
    } catch (problem) {
      this.#ended([`Could not reopen the session: ${problem.message}`], button);
      button.disabled = false;
    }
  }

  async #stopServer() {
    if (!(await confirmStop({ own: this.#view.sessionId, ends: whatEnds(this.#view.details) }))) return;
    this.#problem = "";
    this.#view.stopPolling();
    try {
      await stopServer(() => ask(sessionPath(this.#view.sessionId, "stop"), { method: "POST" }));
    } catch (problem) {
      this.#problem = `Could not stop the server: ${problem.message}`;
      await this.#view.resume().catch(() => {});
      this.show();
    }
  }
}

/** What closing a session ends, in a sentence or two; "" if nothing. */
function whatEnds(details) {
  const { state, queuedPrompts = [] } = details ?? {};
  const turn = state === "waiting" ? "What waits for your answer will be cancelled." : BUSY_STATES.includes(state) ? "The running turn will be interrupted." : "";
  const queue = queuedPrompts.length > 0 ? `${plural(queuedPrompts.length, "queued prompt")} will not be sent.` : "";
  return [turn, queue].filter(Boolean).join(" ");
}

/** A request that nobody can answer any more stays, to be read. */
function closeCard(card) {
  const hadFocus = card.divElement.contains(document.activeElement);
  card.isOpen = false;
  card.keyHint.remove();
  card.divElement.removeAttribute("aria-describedby");
  card.divElement.classList.replace("waiting", "ended");
  for (const control of card.divElement.querySelectorAll("button, input, select, textarea")) control.disabled = true;
  if (hadFocus) card.divElement.focus({ preventScroll: true });
}

/** Unlike the text, files cannot be taken along to a new session. */
function notSent(files) {
  const names = files.map(({ name }) => exactString(name || "pasted")).join(", ");
  return names ? ` The attached files were not sent: ${names}.` : "";
}

function homeLink() {
  return make("a", { class: "button", href: setupAddress(), data: { local: "" }, text: "All sessions" });
}
