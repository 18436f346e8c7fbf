// The line above a session: what it is doing, its name, its model, its folder, how full its context is.

import { jobAddress } from "../lib/address.js";
import { byId, make } from "../lib/dom.js";
import { exactNodes, exactString } from "../lib/exactText.js";
import { baseName, count, shortPath } from "../lib/format.js";
import { showState } from "../lib/states.js";

const heading = byId("session-heading");
const facts = byId("session-facts");

export class SessionHeader {
  #details = {};

  show(details) {
    this.#details = { ...this.#details, ...details };
    const { title, state, stateDetail, sessionId, model, workingDirectory, context, job, failed } = this.#details;
    heading.hidden = false;
    byId("page-heading").hidden = true;
    showState(byId("session-state"), state, stateDetail, { failed });
    const name = title || sessionId;
    const button = byId("session-title");
    button.replaceChildren(make("bdi", {}, ...exactNodes(name, { oneLine: true })));
    button.setAttribute("aria-label", `${exactString(name)}: rename`);
    const parts = [make("span", { class: "fact fact-model", text: model, title: `Model ${model}` })];
    if (job) parts.unshift(jobLink(job));
    if (workingDirectory) parts.push(folderButton(workingDirectory));
    if (context?.tokenLimit) parts.push(contextMeter(context));
    facts.replaceChildren(...parts);
  }

  hide() {
    this.#details = {};
    heading.hidden = true;
    byId("page-heading").hidden = false;
  }
}

/** The job that the session works for. */
function jobLink(job) {
  return make("a", { class: "fact fact-job", href: jobAddress(job), title: exactString(`Task ${job.taskName} of the job ${job.jobName} (${job.jobId})`), text: `Job ${exactString(job.jobName)}` });
}

function folderButton(path) {
  // Its name comes from what it shows, whichever of the two that is.
  const button = make("button", { type: "button", class: "quiet-button fact fact-folder", title: `Copy ${path}` });
  button.append(make("span", { class: "path", text: shortPath(path, 36) }), make("span", { class: "path-short", text: baseName(path) }), make("span", { class: "visually-hidden", text: "(copy the path)" }));
  button.addEventListener("click", async () => {
    const { copyFromButton } = await import("../lib/clipboard.js");
    await copyFromButton(button, path);
  });
  return button;
}

export function contextMeter({ currentTokens, tokenLimit }) {
  const share = Math.min(1, currentTokens / tokenLimit);
  const percent = Math.round(share * 100);
  const meter = make("meter", { min: "0", max: "1", high: "0.8", value: String(share), "aria-label": `Context ${percent} % full` });
  return make(
    "span",
    { class: "fact fact-context", title: `Context: ${currentTokens.toLocaleString()} of ${tokenLimit.toLocaleString()} tokens` },
    meter,
    make("span", { text: `${count(currentTokens)} / ${count(tokenLimit)}` }),
  );
}
