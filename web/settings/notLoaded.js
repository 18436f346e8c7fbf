// A list that could not be loaded: why, and a button to try again.

import { make } from "../lib/dom.js";

export function notLoaded(what, problem, retry) {
  return make("div", { class: "not-loaded" }, make("p", { class: "field-problem", role: "alert", text: `Could not load ${what}: ${problem.message}` }), make("button", { type: "button", text: "Retry", on: { click: retry } }));
}
