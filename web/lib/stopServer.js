// Stops the server, after asking if others are at work.

import { ask } from "./api.js";
import { exactString } from "./exactText.js";
import { inbox } from "./inboxStream.js";
import { BUSY_STATES } from "./states.js";

/** More sessions and jobs than are ever at work. */
const PAGE = 1000;

/**
 * Asks if sessions or jobs are at work. `own` is the session of the page, and `ends` says what ends with it. Resolves to
 * whether the server is to be stopped.
 */
export async function confirmStop({ own = null, ends = "" } = {}) {
  const open = await whatIsOpen();
  const sessions = open.sessions.filter(({ sessionId, state }) => sessionId !== own && BUSY_STATES.includes(state)).map(({ title, sessionId }) => title || sessionId);
  const jobs = open.jobs.filter(({ status }) => status === "Running").map(({ jobName, jobId }) => jobName || jobId);
  if (sessions.length + jobs.length === 0 && ends === "") return true;
  const names = (list) => list.map((name) => exactString(name)).join(", ");
  const parts = [
    ends,
    sessions.length > 0 && `${own ? "Other sessions" : "Sessions"} are working: ${names(sessions)}. Their turns will be interrupted.`,
    jobs.length > 0 && `Jobs are running: ${names(jobs)}. They continue when the server starts again.`,
  ];
  const { confirmAction } = await import("./dialog.js");
  return confirmAction({
    title: "Stop the server?",
    text: `${parts.filter(Boolean).join(" ")} All histories are kept.`,
    action: "Stop the server",
    keep: "Keep it running",
  });
}

/** The sessions and jobs. A page that has just been opened has not heard of all of them, so it asks. */
async function whatIsOpen() {
  const known = { sessions: [...inbox.entries.values()], jobs: [...inbox.jobs.values()] };
  if (inbox.isComplete) return known;
  try {
    const [{ sessions }, { jobs }] = await Promise.all([ask(`api/copilot/session?limit=${PAGE}`), ask(`api/jobs?status=Running&limit=${PAGE}`)]);
    return { sessions, jobs };
  } catch {
    // Stopping will meet the same problem and say so.
    return known;
  }
}

/**
 * Stops the server, then closes the page if the browser lets it, and else says that it may be closed. `first()` runs
 * before. Rejects with a `Problem` if the server refuses.
 */
export async function stopServer(first = () => {}) {
  // Nothing can be loaded after the server has stopped.
  const { showFinished } = await import("../session/finished.js");
  inbox.stop();
  try {
    await first();
    await ask("api/stop", { method: "POST" });
  } catch (problem) {
    // If the server has already stopped, that is fine.
    if (!problem.isUnreachable) {
      inbox.start();
      throw problem;
    }
  }
  window.close();
  showFinished({ title: "The server has stopped", text: "You can close this page. All sessions are saved; run `flightdeck` to start again." });
}
