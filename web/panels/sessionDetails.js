// Everything about a session that is not in its transcript, and what can be changed about it.

import { jobAddress } from "../lib/address.js";
import { ask, downloadAddress, sessionPath } from "../lib/api.js";
import { copyFromButton } from "../lib/clipboard.js";
import { chooseFromOpenList } from "../lib/closedList.js";
import { byId, make } from "../lib/dom.js";
import { exactElement, exactString } from "../lib/exactText.js";
import { exactTime } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { modesOf } from "../lib/permissionModes.js";
import { confirmMode } from "../session/modeChange.js";
import { usageFacts } from "../session/notices.js";
import { contextMeter } from "../session/sessionHeader.js";
import { FolderRules, ruleText } from "./folderRules.js";
import { SidePanel } from "./sidePanel.js";
import { budgetLines } from "./usage.js";

/** Format, label and explanation. */
export const EXPORTS = [
  ["md", "Markdown", "A readable document"],
  ["md.zip", "Markdown with files", "The document with its images and long outputs, as a ZIP archive"],
  ["json", "JSON", "Everything, machine-readable"],
];

/** The panel for the session that `current()` returns; `openUsage` shows the usage of all sessions. */
export function useSessionDetails(current, openUsage) {
  return new SidePanel({ title: "Session", button: byId("details-button"), build: (body) => new Details(body, current(), openUsage).start() });
}

class Details {
  #body;
  #view;
  #openUsage;
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });
  #controls = make("div", { class: "details-controls" });
  #facts = make("dl", { class: "details-facts" });
  /** What the facts say. */
  #said = "";
  /** By the field of the session's details that each of them changes. */
  #selects = {};
  #closed = new AbortController();
  #folderRules = new FolderRules(() => this.#showFacts(), (text) => this.#say(text));

  constructor(body, view, openUsage) {
    this.#body = body;
    this.#view = view;
    this.#openUsage = openUsage;
  }

  start() {
    this.#body.replaceChildren(this.#controls, this.#problem, this.#facts);
    this.#view.addEventListener("change", () => this.#show(), { signal: this.#closed.signal });
    this.#load();
    return () => this.#closed.abort();
  }

  async #load() {
    this.#showFacts();
    try {
      const { signal } = this.#closed;
      const [, { models }, { runtimes }] = await Promise.all([
        this.#view.refresh(),
        ask("api/models", { signal }),
        ask("api/runtimes", { signal }),
        this.#folderRules.load(this.#view.details?.workingDirectory, signal),
      ]);
      this.#showControls(models, runtimes);
      this.#showFacts();
    } catch (problem) {
      if (!this.#closed.signal.aborted) this.#say(problem.message);
    }
  }

  #show() {
    this.#showChosen();
    this.#showFacts();
  }

  #showControls(models, runtimes) {
    const { runtime, model } = this.#view.details;
    const own = models.filter((one) => one.runtime === runtime).toSorted((one, other) => one.name.localeCompare(other.name));
    if (!own.some(({ id }) => id === model)) own.unshift({ id: model, name: model });
    const modes = modesOf(runtimes.find(({ name }) => name === runtime)?.capabilities);
    this.#selects = {
      model: this.#select("details-model", own.map(({ id, name }) => [id, name]), (value) => ({ model: value })),
      permissionMode: this.#select("details-mode", modes, (value) => this.#mode(value)),
    };
    this.#controls.replaceChildren(
      make("label", { for: "details-model", text: "Model" }),
      this.#selects.model,
      make("label", { for: "details-mode", text: "Permissions" }),
      this.#selects.permissionMode,
    );
    this.#showChosen();
  }

  /** What is in force, wherever it was chosen. */
  #showChosen() {
    for (const [field, select] of Object.entries(this.#selects)) {
      const value = this.#view.details[field];
      // Beside the request, a model can be chosen that no list has.
      if (![...select.options].some((option) => option.value === value)) select.prepend(make("option", { value, text: exactString(value ?? "") }));
      select.value = value;
      select.disabled = this.#view.details.state === "closed";
    }
  }

  async #mode(value) {
    return (await confirmMode(value, this.#view.renderer.openRequests)) ? { permissionMode: value } : null;
  }

  #select(id, options, change) {
    const select = make("select", { id }, ...options.map(([key, text]) => make("option", { value: key, text })));
    chooseFromOpenList(select);
    select.addEventListener("change", async () => {
      this.#say("");
      try {
        const json = await change(select.value);
        if (json) this.#view.update(await ask(sessionPath(this.#view.sessionId), { method: "PATCH", json }));
      } catch (problem) {
        this.#say(`Could not change the setting: ${problem.message}`);
      }
      this.#showChosen();
    });
    return select;
  }

  #say(text) {
    this.#problem.textContent = text;
    this.#problem.hidden = !text;
  }

  #showFacts() {
    const details = this.#view.details;
    if (!details) return;
    const usage = usageFacts(details.usage);
    const rows = [
      ["ID", copyable(details.sessionId)],
      ["Job", details.job && make("a", { href: jobAddress(details.job), text: exactString(`${details.job.jobName}: ${details.job.taskName}${details.job.isDriving ? " (driving)" : ""}`) })],
      ["Agent", agentFact(details)],
      ["Working directory", details.workingDirectory ? copyable(details.workingDirectory) : "none"],
      ["Context", details.context?.tokenLimit ? contextMeter(details.context) : "not reported yet"],
      ["Usage", this.#usage(usage)],
      ["Budget", budgetText(details)],
      ["Warning", details.warnings?.length > 0 && exactElement("span", {}, details.warnings.join(" "))],
      ["Rules", rulesText(details.permissionRules)],
      ["Always allowed in this folder", this.#folderRules.element],
      ["Queued", details.queuedPrompts?.length > 0 ? String(details.queuedPrompts.length) : null],
      ["Background tasks", backgroundText(details.backgroundTasks)],
      ["Effort", details.effort],
      ["Export", this.#exports(details)],
      ["Started", details.createdAt && exactTime(details.createdAt)],
      ["Updated", details.updatedAt && exactTime(details.updatedAt)],
    ].filter(([, value]) => value);
    // What says the same is left alone: a button that is replaced while it is being pressed does nothing.
    const said = JSON.stringify(rows.map(([name, value]) => [name, value.outerHTML ?? value]));
    if (said === this.#said) return;
    this.#said = said;
    this.#facts.replaceChildren(...rows.flatMap(([name, value]) => [make("dt", { text: name }), make("dd", {}, value)]));
  }

  #exports({ sessionId }) {
    const button = ([format, text, title]) => make("button", { type: "button", class: "link-button", text, title, data: { format }, on: { click: () => this.#export(sessionId, format) } });
    return make("span", { class: "details-exports" }, ...EXPORTS.map(button));
  }

  async #export(sessionId, format) {
    this.#say("");
    try {
      await exportSession(sessionId, format);
    } catch (problem) {
      this.#say(`Could not export the session: ${problem.message}`);
    }
  }

  #usage(facts) {
    const all = make("button", { type: "button", class: "link-button", text: "All sessions", title: "Usage and cost of all sessions (Alt+M)", on: { click: this.#openUsage } });
    return make("span", {}, make("span", { text: facts.length > 0 ? facts.join(" · ") : "not reported yet" }), make("br"), all);
  }
}

/** Downloads a session in one of the formats. */
export async function exportSession(sessionId, format) {
  const href = await downloadAddress(`/${sessionPath(sessionId, `export?format=${format}`)}`);
  make("a", { href, download: "" }).click();
}

/** The name that people know, and the one that settings and the API use. */
function agentFact({ runtime, agentName, demo }) {
  const names = agentName && agentName !== runtime ? `${agentName} (${runtime})` : runtime;
  return exactString(`${names}${demo ? ", scripted, no AI" : ""}`);
}

function budgetText({ budget, usage }) {
  return budgetLines(budget, usage)
    .map(({ name, used, limit, write }) => `${name}: ${used == null ? "not reported" : write(used)} of ${write(limit)}`)
    .join(" · ");
}

function copyable(text) {
  const copy = make("button", { type: "button", class: "quiet-button icon-button", "aria-label": exactString(`Copy ${text}`), title: "Copy" }, icon("copy"));
  copy.addEventListener("click", () => copyFromButton(copy, text));
  return make("span", { class: "copyable" }, exactElement("code", {}, text, { oneLine: true }), copy);
}

function rulesText(rules) {
  return rules?.length > 0 ? rules.map(ruleText).join(", ") : null;
}

function backgroundText(tasks) {
  return tasks?.length > 0 ? tasks.map(({ description, kind, status }) => `${description || kind} (${status})`).join(", ") : null;
}
