// The tasks that can be run in a session: chosen beside the request, started with it as their input.

import { ask, Problem } from "../lib/api.js";
import { byId, make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { usableEntry } from "../lib/jobs.js";

const RETRY_AFTER = 2000;
/** The tasks of a session that this tab follows: a reload goes on with them. */
const KEPT = "flightdeck.tasks.";
const select = byId("task-select");

export class TaskSelect {
  #view;
  #tasks = [];

  constructor(view) {
    this.#view = view;
    this.#show();
    this.#load();
    for (const taskId of this.#followed) this.#follow(taskId);
  }

  get #followed() {
    try {
      return JSON.parse(sessionStorage.getItem(KEPT + this.#view.sessionId)) ?? [];
    } catch {
      return [];
    }
  }

  #keep(taskIds) {
    try {
      if (taskIds.length > 0) sessionStorage.setItem(KEPT + this.#view.sessionId, JSON.stringify(taskIds));
      else sessionStorage.removeItem(KEPT + this.#view.sessionId);
    } catch {
      // Without storage, a reload shows the session without the task's decisions.
    }
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
    this.#keep([...this.#followed, taskId]);
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
      this.#show();
    } catch {
      // There is nothing to choose from; requests work without tasks.
    }
  }

  #show() {
    select.replaceChildren(make("option", { value: "", text: "(none)" }), ...this.#tasks.map(({ name }) => make("option", { value: name, text: exactString(name) })));
  }

  /** Shows the decisions of a task as they come. */
  async #follow(taskId) {
    const { signal } = this.#view;
    const { decisionBlock } = await import("./taskDecision.js");
    const show = (reason) => this.#view.renderer.append(decisionBlock({ time: new Date(), reason }).divElement);
    let token = null;
    // A token that was lost on the way starts at the beginning again.
    let seen = 0;
    let skip = 0;
    while (!signal.aborted) {
      try {
        token ??= (await ask("api/token", { signal })).token;
        const { responses, error } = await ask(`api/copilot/task/${encodeURIComponent(taskId)}/live/${token}`, { signal });
        if (error === "TaskClosed" || error === "TaskNotFound") {
          this.#keep(this.#followed.filter((one) => one !== taskId));
          return;
        }
        if (error && error !== "HttpRequestTimeout") throw new Problem(`The server returned ${error}.`, { status: 200, code: error });
        for (const response of responses ?? []) {
          if (skip > 0) skip -= 1;
          else {
            seen += 1;
            if (response.callback === "taskDecision") show(response.reason);
            else if (response.taskError !== undefined) show(`[TASK FAILED] ${response.taskError}`);
          }
        }
      } catch (problem) {
        if (signal.aborted) return;
        if (!(problem instanceof Problem)) throw problem;
        token = null;
        skip = seen;
        await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER));
      }
    }
  }
}
