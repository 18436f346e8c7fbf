// What a work would do, from a dry run.

import { make } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { commandElement, permissionsElement } from "../jobs/allowances.js";
import { renderedElement } from "../session/renderedContent.js";

const MODES = {
  single: "one session does the work and the checks",
  separate: "a new session for each prompt and each check",
};

export function previewOf(work) {
  return work.gate === undefined ? taskPreview(work) : gatePreview(work);
}

function gatePreview({ gate, prompt, promptHtml }) {
  const asked = promptHtml ? section("Prompt", renderedElement(promptHtml, "gate-rendered")) : prompt && text("Prompt", prompt);
  return make("div", { class: "work-preview" }, heading("Gate", gate), make("p", { class: "work-lead", text: "The job waits here until someone approves or rejects it." }), asked);
}

function taskPreview({ taskName, model, runtime, mode, prompt, availability, criteria, permissions, timeout }) {
  const facts = [
    ["Model", make("code", { text: [runtime, model].filter(Boolean).join("/") })],
    ["Sessions", MODES[mode] ?? mode],
    ["Permissions", permissionsElement(permissions)],
    ["Must call", criteria?.toolExecuted?.length > 0 && make("span", {}, ...criteria.toolExecuted.map((tool) => exactElement("code", { class: "tool-name" }, tool, { oneLine: true })))],
    ["Command", criteria?.command && commandFact(criteria.command)],
    ["Retries", criteria && plural(criteria.retryTimes ?? 0, "retry", "retries")],
    ["Time limit", timeout],
  ].filter(([, value]) => value);
  return make(
    "div",
    { class: "work-preview" },
    heading("Task", taskName),
    make("dl", { class: "work-facts" }, ...facts.flatMap(([name, value]) => [make("dt", { text: name }), make("dd", {}, value)])),
    availability && text("Starts only if", availability),
    text("Prompt", prompt),
    criteria?.condition && text("Done only if", criteria.condition),
  );
}

function heading(kind, name) {
  return make("h2", { class: "work-title" }, make("span", { class: "work-kind", text: kind }), " ", exactElement("bdi", {}, name, { oneLine: true }));
}

function commandFact({ run = [], expectExit, timeout }) {
  const rest = [`exit code ${expectExit ?? 0}`, timeout && `at most ${timeout}`].filter(Boolean).join(", ");
  return make("span", { class: "command-fact" }, commandElement(run), make("span", { class: "work-quiet", text: rest }));
}

/** A prompt, every character of it. */
function text(title, content) {
  const words = typeof content === "string" ? content : [content?.condition ?? content].flat().join("\n");
  return section(title, exactElement("pre", { tabindex: "0" }, words));
}

function section(title, content) {
  return make("section", { class: "work-text" }, make("h3", { text: title }), content);
}
