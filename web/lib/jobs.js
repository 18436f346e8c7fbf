// Jobs as the server knows them: where their routes are, and the words for their states.

import { ask } from "./api.js";
import { make } from "./dom.js";

/** The state of a job: a word, and the shape beside it. */
const STATES = {
  Running: { word: "Running", mark: "working" },
  Succeeded: { word: "Succeeded", mark: "succeeded" },
  Failed: { word: "Failed", mark: "failed" },
  Canceled: { word: "Canceled", mark: "closed" },
  Waiting: { word: "Needs your input", mark: "waiting" },
};

/** The API's path of a job, and of something below it. */
export function jobPath(jobId, below = "") {
  return `api/jobs/${encodeURIComponent(jobId)}${below ? `/${below}` : ""}`;
}

/** Where the prompt of a gate is rendered. */
export function gatePromptPath(jobId, gateId) {
  return jobPath(jobId, `gate/${encodeURIComponent(gateId)}.html`);
}

/** `{ grid, jobs, chart }` of the entry that is in force in a folder. */
export async function jobDefinitions(folder) {
  const reply = folder ? await ask(`api/copilot/job?${new URLSearchParams({ workingDirectory: folder })}`) : null;
  // A folder that the server does not know has no entry of its own; the others still hold.
  return reply?.grid ? reply : ask("api/copilot/job");
}

/** The entry that jobs come from, of the description of a folder's entry; null if there is none or it is invalid. */
export function usableEntry(described) {
  const inForce = described.inForce ? described : described.fallback;
  return inForce && !inForce.problems?.some(({ severity }) => severity === "error") ? inForce : null;
}

export function jobStateWord(status) {
  return STATES[status]?.word ?? String(status);
}

/** The state of a job or a work as a shape and a word. */
export function jobStateElement(status) {
  return make("span", { class: `state state-${STATES[status]?.mark ?? "ready"}`, data: { state: status } }, make("span", { class: "state-mark", "aria-hidden": "true" }), make("span", { class: "state-word", text: jobStateWord(status) }));
}
