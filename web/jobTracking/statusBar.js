// The bar above the chart: the state of the job, for how long, and what can be done with it.

import { ask } from "../lib/api.js";
import { byId, setText } from "../lib/dom.js";
import { duration, exactTime, plural } from "../lib/format.js";
import { jobPath } from "../lib/jobs.js";

const TICK = 1000;
const buttons = { stop: byId("stop-job-button"), retry: byId("retry-job-button"), waiting: byId("job-waiting-button") };

export class StatusBar {
  /** Called after the job was stopped or retried. */
  onAction = () => {};
  /** Called when the person wants to see what waits. */
  onWaiting = () => {};
  #jobId;
  #details = null;
  #timer = null;

  constructor(jobId) {
    this.#jobId = jobId;
    buttons.stop.addEventListener("click", () => this.#act("stop", buttons.stop, "Could not stop the job"));
    buttons.retry.addEventListener("click", () => this.#act("retry", buttons.retry, "Could not retry the job"));
    buttons.waiting.addEventListener("click", () => this.onWaiting());
  }

  /** `waits` is how many steps need a person. */
  show(details, waits) {
    this.#details = details;
    const { status } = details;
    const runs = status === "Running";
    const label = byId("job-status-label");
    const text = `JOB: ${status.toUpperCase()}`;
    if (label.textContent !== text) label.textContent = text;
    label.dataset.status = status;
    buttons.stop.hidden = false;
    buttons.stop.disabled = !runs;
    buttons.retry.hidden = !["Failed", "Canceled"].includes(status);
    buttons.waiting.hidden = waits === 0;
    buttons.waiting.textContent = `${plural(waits, "step needs", "steps need")} your input`;
    this.#showTime();
    clearInterval(this.#timer);
    this.#timer = runs ? setInterval(() => this.#showTime(), TICK) : null;
  }

  #showTime() {
    const { startTime, endTime } = this.#details;
    const time = byId("job-time");
    const took = (endTime ? new Date(endTime) : Date.now()) - new Date(startTime);
    // While it runs, tenths of a second would only flicker.
    time.textContent = endTime ? duration(took) : wholeSeconds(took);
    time.title = `Started ${exactTime(startTime)}${endTime ? `, ended ${exactTime(endTime)}` : ""}`;
  }

  async #act(action, button, failure) {
    button.disabled = true;
    setText(byId("job-problem"), "");
    try {
      await ask(jobPath(this.#jobId, action), { method: "POST" });
      await this.onAction();
    } catch (problem) {
      setText(byId("job-problem"), `${failure}: ${problem.message}`);
    } finally {
      button.disabled = button === buttons.stop && this.#details?.status !== "Running";
    }
  }
}

export function wholeSeconds(milliseconds) {
  return milliseconds < 60_000 ? `${Math.max(0, Math.floor(milliseconds / 1000))} s` : duration(milliseconds);
}
