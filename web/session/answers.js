// Answers to what an agent asks.

import { ask, sessionPath } from "../lib/api.js";

/** Sends the answer to a request. What goes wrong is said in its card. */
export async function answerRequest(sessionId, requestId, { path, json }) {
  try {
    return await ask(sessionPath(sessionId, `${path}/${encodeURIComponent(requestId)}`), { json });
  } catch (problem) {
    // The server's words are for programs.
    if (problem.code === "SessionNotFound") problem.message = "This session was deleted.";
    throw problem;
  }
}
