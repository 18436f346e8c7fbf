// The tasks that can be run in a session: chosen beside the request, started with it as their input.

import { ask, Problem } from "../lib/api.js";
import { byId, make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { usableEntry } from "../lib/jobs.js";
import { decisionBlock } from "./taskDecision.js";

const RETRY_AFTER = 2000;
const select = byId("task-select");

export class TaskSelect {
  #view;
  #tasks = [];

  constructor(view) {
    this.#view = view;
    this.#showTasks();
    this.#load();
    for (const taskId of view.keptTasks.running) this.#follow(taskId);
  }

  /** The chosen task, `{ name, requireUserInput }`, or null. */
  get chosen() {
    return this.#tasks.find(({ name }) => name === select.value) ?? null;
  }

  /** Starts the chosen task and follows its decisions. Rejects with what went wrong. */
  async start(text) {
    const { name } = this.chosen;
    const path = `api/copilot/task/start/${encodeURIComponent(name)}/session/${encodeURIComponent(this.#view.sessionId)}`;
    const { taskId, error, taskError } = await ask(path, { text });
    if (!taskId) throw new Error(taskError ?? `The server returned ${error}.`);
    select.value = "";
    this.#view.keptTasks.begin(taskId);
    this.#follow(taskId);
  }

  async #load() {
    const { workingDirectory } = this.#view.details;
    const query = workingDirectory ? `?${new URLSearchParams({ workingDirectory })}` : "";
    try {
      // Without an entry the list of tasks is an error, so that is asked first.
      const entry = await ask(`api/jobs/entry${query}`, { signal: this.#view.signal });
      if (!usableEntry(entry)) return;
      const { tasks } = await ask(`api/copilot/task${query}`, { signal: this.#view.signal });
      this.#tasks = tasks ?? [];
      this.#showTasks();
    } catch {
      // There is nothing to choose from; requests work without tasks.
    }
  }

  #showTasks() {
    byId("task-switch").hidden = this.#tasks.length === 0;
    select.replaceChildren(make("option", { value: "", text: "(none)" }), ...this.#tasks.map(({ name }) => make("option", { value: name, text: exactString(name) })));
  }

  /** Shows the decisions of a task as they come. */
  async #follow(taskId) {
    const { signal, keptTasks } = this.#view;
    let token = null;
    let skip = 0;
    while (!signal.aborted) {
      try {
        if (token === null) {
          token = (await ask("api/token", { signal })).token;
          // A new token starts at the beginning.
          skip = keptTasks.taken(taskId);
        }
        const { responses, error } = await ask(`api/copilot/task/${encodeURIComponent(taskId)}/live/${token}`, { signal });
        if (error === "TaskClosed" || error === "TaskNotFound") {
          keptTasks.end(taskId);
          return;
        }
        if (error && error !== "HttpRequestTimeout") throw new Problem(`The server returned ${error}.`, { status: 200, code: error });
        for (const response of responses ?? []) {
          if (skip > 0) skip -= 1;
          else this.#take(taskId, response);
        }
      } catch (problem) {
        if (signal.aborted) return;
        if (!(problem instanceof Problem)) throw problem;
        token = null;
        await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER));
      }
    }
  }

  #take(taskId, { callback, reason, taskError }) {
    const decision = callback === "taskDecision" ? reason : taskError === undefined ? null : `[TASK FAILED] ${taskError}`;
    if (decision === null) this.#view.keptTasks.take(taskId);
    else this.#view.keptTasks.take(taskId, this.#show(decision));
  }

  /** Shows a decision at the end of the session. Returns it with its place. */
  #show(reason) {
    const time = Date.now();
    return { after: this.#view.renderer.appendRemark(decisionBlock({ time, reason }).divElement), time, reason };
  }
}
