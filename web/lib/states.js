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

/** States in which a turn runs. */
export const BUSY_STATES = ["working", "waiting", "recovering"];

export function stateWord(state) {
  return STATES[state]?.word ?? state;
}

/** Shows a state in an element of class `state`. */
export function showState(element, state, detail) {
  element.className = `state state-${STATES[state]?.mark ?? "ready"}`;
  element.dataset.state = state;
  element.title = detail ?? "";
  element.replaceChildren(make("span", { class: "state-mark", "aria-hidden": "true" }), make("span", { class: "state-word", text: stateWord(state) }));
}

export function stateElement(state, detail) {
  const element = make("span");
  showState(element, state, detail);
  return element;
}
