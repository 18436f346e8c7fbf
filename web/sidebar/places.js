// The places that a person can go to: sessions and jobs, each with what a row shows of it.

import { jobAddress, sessionAddress } from "../lib/address.js";
import { inbox } from "../lib/inboxStream.js";
import { jobList } from "../lib/jobList.js";
import { sessionList } from "../lib/sessionList.js";
import { isJobStep, STUCK_STATES, stateLook } from "../lib/states.js";

const WORKING_STATES = ["working", "starting", "recovering"];
const JOB_MARKS = { Running: "working", Succeeded: "succeeded", Failed: "failed", Canceled: "closed" };

/**
 * All of them: `{ key, kind, id, title, address, group, mark, word, unread, folder, time, about }`. `group` is "needs", "working" or
 * "recent"; `time` is when something last happened.
 */
export function allPlaces() {
  const listed = new Set(sessionList.sessions.map(({ sessionId }) => sessionId));
  // Open sessions that are older than those in the list.
  const older = [...inbox.entries.values()].filter(({ sessionId }) => !listed.has(sessionId)).map((entry) => ({ ...entry, pending: entry.pending.length }));
  return [...sessionList.sessions, ...older].map(sessionPlace).concat(jobList.jobs.map(jobPlace));
}

/** What needs a person, what works and what is recent, in the order of a list. */
export function sorted(places) {
  const of = (group) => places.filter((place) => place.group === group);
  return {
    needs: of("needs").toSorted((one, other) => asked(one) - asked(other) || numbered(one, other)),
    // By number: those that work would change places all the time.
    working: of("working").toSorted((one, other) => numbered(other, one)),
    recent: of("recent").toSorted((one, other) => (other.time ?? 0) - (one.time ?? 0) || numbered(other, one)),
  };
}

/** How a place is marked. Unread is said of one that has nothing of its own to say. */
export function markOf({ mark, unread }) {
  return unread && (mark === "ready" || mark === "closed") ? "unread" : mark;
}

function sessionPlace({ sessionId, title, state, pending = 0, unread = false, failed = false, workingDirectory, updatedAt, job, model }) {
  const look = stateLook(pending > 0 ? "waiting" : state, { failed });
  const group = pending > 0 || STUCK_STATES.includes(state) ? "needs" : WORKING_STATES.includes(state) ? "working" : "recent";
  return {
    key: sessionId,
    kind: "session",
    id: sessionId,
    title: title || sessionId,
    address: sessionAddress(sessionId),
    isLocal: true,
    group,
    mark: look.mark,
    word: look.word,
    unread: unread && group === "recent",
    folder: workingDirectory ?? null,
    time: updatedAt ? Date.parse(updatedAt) : null,
    isStep: isJobStep({ job, state, pending }),
    about: [sessionId, model, job && `job ${job.jobName}`].filter(Boolean).join(" · "),
  };
}

function jobPlace({ jobId, jobName, status, waiting, workingDirectory, startTime, endTime }) {
  const needs = waiting > 0;
  return {
    key: jobId,
    kind: "job",
    id: jobId,
    title: jobName || jobId,
    address: jobAddress({ jobId, jobName }),
    isLocal: false,
    group: needs ? "needs" : status === "Running" ? "working" : "recent",
    mark: needs ? "waiting" : (JOB_MARKS[status] ?? "ready"),
    word: needs ? "Needs your input" : status,
    unread: false,
    folder: workingDirectory ?? null,
    time: Date.parse(endTime ?? startTime),
    isStep: false,
    about: jobId,
  };
}

/** Since when the oldest request of a place waits. */
function asked({ kind, id }) {
  const times = kind === "session" ? (inbox.entries.get(id)?.pending ?? []).map(({ askedAt }) => askedAt) : (inbox.jobs.get(id)?.waiting ?? []).map(({ since }) => since);
  return Math.min(...times.filter(Boolean).map((time) => Date.parse(time)), Number.MAX_SAFE_INTEGER);
}

function numbered(one, other) {
  return one.key.localeCompare(other.key, "en", { numeric: true });
}
