// The line above a session: what it is doing, its name, its model, its folder, how full its context is.

import { jobAddress } from "../lib/address.js";
import { byId, make } from "../lib/dom.js";
import { exactElement, exactNodes, exactString } from "../lib/exactText.js";
import { baseName, count, shortPath } from "../lib/format.js";
import { showState } from "../lib/states.js";

/** What gives way to the title, in this order, and how much of it each leaves in pixels. The last is about ten characters. */
const GIVE_WAY = [
  ["path", 260],
  ["fact-folder", 180],
  ["fact-model", 180],
  ["fact-context", 104],
  ["fact-job", 104],
];

const heading = byId("session-heading");
const facts = byId("session-facts");
const title = byId("session-title");

// Called after layout and before paint: nothing is seen that does not fit.
new ResizeObserver(() => fit()).observe(heading);

export class SessionHeader {
  #details = {};
  #shown = "";

  show(details) {
    this.#details = { ...this.#details, ...details };
    const { state, stateDetail, sessionId, model, workingDirectory, context, job, failed } = this.#details;
    heading.hidden = false;
    byId("page-heading").hidden = true;
    showState(byId("session-state"), state, stateDetail, { failed });
    const name = this.#details.title || sessionId;
    const now = JSON.stringify([name, state, failed, model, workingDirectory, context, job]);
    if (now === this.#shown) return;
    this.#shown = now;
    title.replaceChildren(make("bdi", {}, ...exactNodes(name, { oneLine: true })));
    title.setAttribute("aria-label", `${exactString(name)}: rename`);
    title.title = `${exactString(name)}\nRename (Alt+R)`;
    const parts = [exactElement("span", { class: "fact fact-model", title: exactString(`Model ${model}`) }, model, { oneLine: true })];
    if (job) parts.unshift(jobLink(job));
    if (workingDirectory) parts.push(folderButton(workingDirectory));
    if (context?.tokenLimit) parts.push(contextMeter(context));
    facts.replaceChildren(...parts);
    fit();
  }

  hide() {
    this.#details = {};
    this.#shown = "";
    heading.hidden = true;
    byId("page-heading").hidden = false;
  }
}

/** Shows as many facts as there is room for. The composer shows model and context too, and the details show everything. */
function fit() {
  const isTight = (keeps) => heading.scrollWidth > heading.clientWidth || title.clientWidth < Math.min(title.scrollWidth, keeps);
  for (const [name] of GIVE_WAY) facts.classList.remove(`without-${name}`);
  for (const [name, keeps] of GIVE_WAY) if (isTight(keeps)) facts.classList.add(`without-${name}`);
}

/** The job that the session works for. */
function jobLink(job) {
  return make("a", { class: "fact fact-job", href: jobAddress(job), title: exactString(`Task ${job.taskName} of the job ${job.jobName} (${job.jobId})`), text: `Job ${exactString(job.jobName)}` });
}

function folderButton(path) {
  // Its name comes from what it shows, whichever of the two that is.
  const button = make("button", { type: "button", class: "quiet-button fact fact-folder", title: exactString(`Copy ${path}`) });
  const shown = (name, text) => exactElement("span", { class: name }, text, { oneLine: true });
  button.append(shown("path", shortPath(path, 36)), shown("path-short", baseName(path)), make("span", { class: "visually-hidden", text: "(copy the path)" }));
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
