// What needs a person, in all sessions and jobs: the longest wait first.

import { jobAddress, jobInAddress, sessionAddress, sessionInAddress } from "./address.js";
import { inbox } from "./inboxStream.js";
import { STUCK_STATES } from "./states.js";

/** Whether a session needs a person, as the inbox stream has it. */
export function needsPerson({ state, pending }) {
  return pending.length > 0 || STUCK_STATES.includes(state);
}

/** `{ id, title, address, since }` of everything that waits; `since` is null where nobody knows it. */
export function waitingThings() {
  const sessions = [...inbox.entries.values()].filter(needsPerson).map(({ sessionId, title, pending }) => ({ id: sessionId, title: title || sessionId, address: sessionAddress(sessionId), since: earliest(pending.map(({ askedAt }) => askedAt)) }));
  const jobs = [...inbox.jobs.values()].filter(({ waiting }) => waiting.length > 0).map((job) => ({ id: job.jobId, title: job.jobName || job.jobId, address: jobAddress(job), since: earliest(job.waiting.map(({ since }) => since)) }));
  return [...sessions, ...jobs].toSorted(byWait);
}

/** What to look at next: after what the page shows, else the longest wait. Null when nothing else waits. */
export function nextWaiting() {
  const all = waitingThings();
  const here = all.findIndex(({ id }) => id === sessionInAddress() || id === jobInAddress().jobId);
  const next = all[(here + 1) % all.length];
  return next && all.indexOf(next) !== here ? next : null;
}

function earliest(times) {
  return times.filter(Boolean).toSorted()[0] ?? null;
}

/** Those without a time come last, in a fixed order. */
function byWait(one, other) {
  if (one.since === other.since) return one.id.localeCompare(other.id, "en", { numeric: true });
  if (one.since === null || other.since === null) return one.since === null ? 1 : -1;
  return one.since < other.since ? -1 : 1;
}
