// The system check: which agents are ready, then the results of this machine and of each agent, with what to do.

import { ask } from "../lib/api.js";
import { make, prose } from "../lib/dom.js";
import { SidePanel } from "./sidePanel.js";

const VERDICTS = {
  ok: { word: "OK", mark: "ready" },
  info: { word: "Info", mark: "closed" },
  warning: { word: "Warning", mark: "waiting" },
  failure: { word: "Failed", mark: "failed" },
};

const SUMMARY = {
  ok: "Everything that is set up works.",
  warning: "Flightdeck works, with the warnings below.",
  failure: "Some checks failed.",
};

export function useDoctor() {
  return new SidePanel({ title: "System check", build });
}

function build(body) {
  const closed = new AbortController();
  const load = async () => {
    body.replaceChildren(make("p", { class: "empty", role: "status", text: "Checking … This takes a few seconds." }));
    try {
      const [{ verdict, ready, checks }, conformance] = await Promise.all([ask("api/doctor", { signal: closed.signal }), ask("api/conformance", { signal: closed.signal })]);
      body.replaceChildren(
        readyLine(ready),
        make("p", { class: "check-summary", role: "status", text: SUMMARY[verdict] ?? verdict }),
        ...grouped(checks).map(section),
        ...conformance.reports.map(conformanceSection),
        ...(conformance.problem ? [make("p", { class: "field-problem", role: "alert" }, ...prose(conformance.problem))] : []),
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

function readyLine(ready) {
  const names = ready.map(({ runtime, hint }) => make("li", {}, make("b", { text: runtime }), hint ? ": " : null, ...(hint ? prose(hint) : [])));
  if (names.length === 0) return make("p", { class: "check-ready", text: "No agent is ready." });
  return make("div", { class: "check-ready" }, make("h3", { text: "Ready" }), make("ul", {}, ...names));
}

/** The checks of each group, in the order in which the groups first occur. */
function grouped(checks) {
  const groups = new Map();
  for (const check of checks) groups.set(check.group, [...(groups.get(check.group) ?? []), check]);
  return [...groups];
}

function section([group, checks]) {
  return make("section", { class: "check-group", data: { group } }, make("h3", { text: group === "machine" ? "This machine" : group }), make("ul", { class: "check-list" }, ...checks.map(row)));
}

/** What `flightdeck conformance` found: failed assumptions first, the rest on request. */
function conformanceSection({ runtime, version, at, checks }) {
  const failed = checks.filter(({ passed }) => !passed);
  const passed = checks.filter((check) => check.passed);
  const summary = failed.length === 0 ? `All ${checks.length} checks passed.` : `${failed.length} of ${checks.length} checks failed.`;
  return make(
    "section",
    { class: "check-group", data: { conformance: runtime } },
    make("h3", { text: `Conformance of ${runtime} ${version}` }),
    make("p", {}, `${summary} Checked on ${new Date(at).toLocaleString()}.`),
    failed.length === 0 ? null : make("ul", { class: "check-list" }, ...failed.map(assumption)),
    make("details", {}, make("summary", { text: `Passed (${passed.length})` }), make("ul", { class: "check-list" }, ...passed.map(assumption))),
  );
}

function assumption({ id, assumption: text, why, capabilities, passed, seen }) {
  const off = passed || capabilities.length === 0 ? "" : ` Disabled for this version: ${capabilities.join(", ")}.`;
  return row({ group: "", name: id, verdict: passed ? "ok" : "failure", message: text, hint: `${why} Observed: ${seen}.${off}` });
}

function row({ group, name, verdict, message, hint }) {
  const { word, mark } = VERDICTS[verdict] ?? { word: verdict, mark: "ready" };
  // The heading says which agent it is.
  const shortName = name.startsWith(`${group}: `) ? name.slice(group.length + 2) : name;
  return make(
    "li",
    { class: "check-row", data: { verdict } },
    make("p", { class: "check-line" }, make("b", { text: shortName }), make("span", { class: `state state-${mark}` }, make("span", { class: "state-mark", "aria-hidden": "true" }), make("span", { text: word }))),
    make("p", {}, ...prose(message)),
    hint ? make("p", { class: "check-hint" }, ...prose(hint)) : null,
  );
}
