// Requests to the server. Failures become a `Problem` with a message for people.
//
// All ports of a host share its cookies, so the cookie alone opens no data: every request carries the secret that the
// login page put into this origin's storage. This is the only module that calls fetch.

import { kept } from "./storage.js";

const SECRET_KEY = "flightdeck.secret";

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

  /** The server responds, but this browser is not logged in. */
  get isLoggedOut() {
    return this.status === 401;
  }
}

/**
 * Requests JSON. `json` is sent as a JSON body, `text` as plain text. Rejects with a `Problem` if the server cannot be
 * reached or returns an error status; a reply `{"error"}` with status 200 (from the portal's routes) is returned like
 * any other.
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

/** Requests HTML that the server rendered and sanitised. */
export async function askHtml(path, { signal } = {}) {
  const answer = await succeed(path, { signal });
  return read(() => answer.text(), signal);
}

/** Requests a file, as a `Blob`. */
export async function askBlob(path, { signal } = {}) {
  const answer = await succeed(path, { signal });
  return read(() => answer.blob(), signal);
}

/** Opens a stream and returns its bytes as they arrive. */
export async function openStream(path, { signal } = {}) {
  return (await succeed(path, { signal, headers: { Accept: "text/event-stream" } })).body;
}

/** An address of the server that a link may open once, within a minute. */
export async function downloadAddress(path) {
  return (await ask("/api/ticket", { json: { path } })).address;
}

async function succeed(path, request) {
  const answer = await send(path, request);
  if (answer.ok) return answer;
  throw problemOf(answer.status, await read(() => answer.json(), request.signal));
}

async function send(path, request) {
  let answer;
  try {
    answer = (await earlyAnswer(path, request)) ?? (await fetch(path, { ...request, headers: { ...request.headers, ...secretHeader() } }));
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw new Problem("The server did not respond.");
  }
  if (answer.status === 401) logInFirst();
  else hasAnswered = true;
  return answer;
}

/** Read each time: another tab may have logged in again. */
function secretHeader() {
  // Without storage, early.js has taken it from the address.
  const secret = window.flightdeckSecret ?? kept(SECRET_KEY);
  return secret ? { "Flightdeck-Secret": secret } : {};
}

let hasAnswered = false;

/**
 * A cookie without the secret opens the page but no data, so the page redirects to the login. A page that has shown
 * something stays, so that nobody loses what they were reading or writing.
 */
function logInFirst() {
  if (hasAnswered) return;
  hasAnswered = true;
  location.replace(loginAddress());
}

/** The login, which leads back to this page. */
export function loginAddress() {
  return `/login?next=${encodeURIComponent(`${location.pathname}${location.search}`)}`;
}

/** The replies that early.js requested; each is used once. */
async function earlyAnswer(path, { method = "GET" }) {
  const early = window.flightdeckEarlyAnswers?.get(path);
  if (!early || method !== "GET") return null;
  window.flightdeckEarlyAnswers.delete(path);
  return early;
}

/** The body may be cut off or invalid. */
async function read(body, signal) {
  try {
    return await body();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem("The connection to the server was lost.");
  }
}

function problemOf(status, reply) {
  if (status === 401) return new Problem("You are no longer logged in.", { status, code: "Unauthorized" });
  const code = typeof reply?.error === "string" ? reply.error : `Http${status}`;
  return new Problem(reply?.message ?? `The server returned ${status} ${code}.`, { status, code });
}

/** The API's path of a session, and of something below it. */
export function sessionPath(id, below = "") {
  return `api/copilot/session/${encodeURIComponent(id)}${below ? `/${below}` : ""}`;
}
