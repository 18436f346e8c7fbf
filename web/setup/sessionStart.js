// Starts a session and sends its first prompt. A start that was cut off can be repeated: the server recognises its keys, so
// there is never a second session or a second prompt.

import { ask, sessionPath } from "../lib/api.js";

export class SessionStart {
  #body = null;
  #key = null;
  #text = null;
  #promptKey = null;

  /** Resolves to the session's id once the prompt, if there is one, was accepted. */
  async start(body, text) {
    this.#useKeysFor(JSON.stringify(body), text);
    const { sessionId } = await ask("api/copilot/session", { json: body, headers: { "Idempotency-Key": this.#key } });
    if (text.trim() !== "") await this.#send(sessionId, text);
    this.#body = null;
    return sessionId;
  }

  /** The next start is a new session, whatever it is asked for. */
  forget() {
    this.#body = null;
  }

  async #send(sessionId, text) {
    try {
      await ask(sessionPath(sessionId, "prompt"), { json: { text }, headers: { "Idempotency-Key": this.#promptKey } });
    } catch (problem) {
      problem.startedSession = sessionId;
      throw problem;
    }
  }

  #useKeysFor(body, text) {
    if (body !== this.#body) {
      this.#body = body;
      this.#key = newKey();
      this.#text = null;
    }
    if (text !== this.#text) {
      this.#text = text;
      this.#promptKey = newKey();
    }
  }
}

/** `crypto.randomUUID` exists only where the page is on https or on localhost. */
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
