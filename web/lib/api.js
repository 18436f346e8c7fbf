// Talking to the server. What goes wrong becomes a `Problem` with a sentence for people.

export class Problem extends Error {
  /** The HTTP status; 0 when the server was not reached. */
  status;
  /** The server's name for it. */
  code;

  constructor(message, { status = 0, code = "Unreachable" } = {}) {
    super(message);
    this.name = "Problem";
    this.status = status;
    this.code = code;
  }

  get isUnreachable() {
    return this.status === 0;
  }

  /** The server is there and does not know us any more. */
  get isLoggedOut() {
    return this.status === 401;
  }
}

/**
 * Asks the server for JSON. `json` goes as a JSON body, `text` as plain text. Rejects with a `Problem` when the server
 * cannot be reached or answers with an error status; an answer `{"error"}` with status 200 (the portal's way) is given
 * back like any other.
 */
export async function ask(path, { method, json, text, headers = {}, signal } = {}) {
  const body = json === undefined ? text : JSON.stringify(json);
  const sent = json === undefined ? headers : { ...headers, "Content-Type": "application/json" };
  const answer = await send(path, { method: method ?? (body === undefined ? "GET" : "POST"), body, headers: sent, signal });
  if (answer.status === 204) return null;
  const reply = await read(() => answer.json(), signal);
  if (!answer.ok) throw problemOf(answer.status, reply);
  return reply;
}

/** Asks the server for HTML that it rendered and cleaned. */
export async function askHtml(path, { signal } = {}) {
  const answer = await send(path, { signal });
  if (answer.ok) return read(() => answer.text(), signal);
  throw problemOf(answer.status, await read(() => answer.json(), signal));
}

async function send(path, request) {
  try {
    return (await earlyAnswer(path, request)) ?? (await fetch(path, request));
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw new Problem("The server does not answer.");
  }
}

/** What early.js has asked for already, once. */
async function earlyAnswer(path, { method = "GET" }) {
  const early = window.flightdeckEarlyAnswers?.get(path);
  if (!early || method !== "GET") return null;
  window.flightdeckEarlyAnswers.delete(path);
  return early;
}

/** The body may break off in the middle, or not be what it should. */
async function read(body, signal) {
  try {
    return await body();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem("The server's answer broke off.");
  }
}

function problemOf(status, reply) {
  if (status === 401) return new Problem("You are no longer logged in.", { status, code: "Unauthorized" });
  const code = typeof reply?.error === "string" ? reply.error : `Http${status}`;
  return new Problem(reply?.message ?? `The server answered with ${status} ${code}.`, { status, code });
}

/** The API's path of a session, and of something below it. */
export function sessionPath(id, below = "") {
  return `api/copilot/session/${encodeURIComponent(id)}${below ? `/${below}` : ""}`;
}
