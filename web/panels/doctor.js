// The check of this machine: what is there, what is missing, what to do about it.

import { ask } from "../lib/api.js";
import { make, prose } from "../lib/dom.js";
import { SidePanel } from "./sidePanel.js";

const VERDICTS = {
  ok: { word: "OK", mark: "ready" },
  warning: { word: "Warning", mark: "waiting" },
  failure: { word: "Failure", mark: "failed" },
};

const SUMMARY = {
  ok: "All checks passed.",
  warning: "Flightdeck works, with the warnings below.",
  failure: "Some checks failed.",
};

export function useDoctor() {
  return new SidePanel({ title: "System check", build });
}

function build(body) {
  const closed = new AbortController();
  const load = async () => {
    body.replaceChildren(make("p", { class: "empty", role: "status", text: "Checking … this takes a few seconds" }));
    try {
      const { verdict, checks } = await ask("api/doctor", { signal: closed.signal });
      body.replaceChildren(
        make("p", { class: "check-summary", role: "status", text: SUMMARY[verdict] ?? verdict }),
        make("ul", { class: "check-list" }, ...checks.map(row)),
        make("button", { type: "button", text: "Check again", on: { click: load } }),
      );
    } catch (problem) {
      if (closed.signal.aborted) return;
      body.replaceChildren(make("p", { class: "field-problem", role: "alert", text: `The system check failed: ${problem.message}` }), make("button", { type: "button", text: "Retry", on: { click: load } }));
    }
  };
  load();
  return () => closed.abort();
}

function row({ name, verdict, message, hint }) {
  const { word, mark } = VERDICTS[verdict] ?? { word: verdict, mark: "ready" };
  return make(
    "li",
    { class: "check-row", data: { verdict } },
    make("p", { class: "check-line" }, make("b", { text: name }), make("span", { class: `state state-${mark}` }, make("span", { class: "state-mark", "aria-hidden": "true" }), make("span", { text: word }))),
    make("p", {}, ...prose(message)),
    hint ? make("p", { class: "check-hint" }, ...prose(hint)) : null,
  );
}
