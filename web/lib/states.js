// The state of a session as a shape and a word. Colour only repeats it.

import { make } from "./dom.js";

const STATES = {
  starting: { word: "Starting", mark: "working" },
  ready: { word: "Ready", mark: "ready" },
  working: { word: "Working", mark: "working" },
  waiting: { word: "Needs your input", mark: "waiting" },
  recovering: { word: "Recovering", mark: "working" },
  "needs-login": { word: "Needs login", mark: "waiting" },
  failed: { word: "Failed", mark: "failed" },
  closed: { word: "Closed", mark: "closed" },
};

/** A session at rest whose last turn failed must not look fine. */
const FAILED_TURN = { word: "Failed", mark: "failed" };

/** States in which the session needs a person before it continues, with or without an open request. */
export const STUCK_STATES = ["waiting", "needs-login", "failed"];

/** A session of a job is one of its steps: it stands by itself only while it needs somebody. */
export const isJobStep = ({ job, state, pending = 0 }) => Boolean(job) && pending === 0 && !STUCK_STATES.includes(state);

/** States in which a turn runs. */
export const BUSY_STATES = ["working", "waiting", "recovering"];

/** The word and the shape of a state. `failed` is whether the session's last turn failed. */
export function stateLook(state, { failed = false } = {}) {
  return failed && state === "ready" ? FAILED_TURN : (STATES[state] ?? { word: state, mark: "ready" });
}

export function stateWord(state, how) {
  return stateLook(state, how).word;
}

/** Shows a state in an element of class `state`. */
export function showState(element, state, detail, how) {
  const look = stateLook(state, how);
  element.className = `state state-${look.mark}`;
  element.dataset.state = state;
  element.title = detail ?? (look === FAILED_TURN ? "The last turn failed" : "");
  element.replaceChildren(make("span", { class: "state-mark", "aria-hidden": "true" }), make("span", { class: "state-word", text: look.word }));
}

export function stateElement(state, detail, how) {
  const element = make("span");
  showState(element, state, detail, how);
  return element;
}
