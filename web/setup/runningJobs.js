// The jobs that run or have ended a short time ago.

import { jobAddress } from "../lib/address.js";
import { ask } from "../lib/api.js";
import { byId, make } from "../lib/dom.js";
import { exactNodes, exactString } from "../lib/exactText.js";
import { ago, exactTime } from "../lib/format.js";
import { inbox } from "../lib/inboxStream.js";
import { jobStateElement } from "../lib/jobs.js";

/** Messages that come together are one change. */
const TOGETHER = 150;
const TIME_TICK = 30_000;

const place = byId("running-jobs-list");

export class RunningJobs {
  #jobs = [];
  #scheduled = null;
  #shown = null;

  constructor() {
    inbox.addEventListener("job", () => {
      this.#scheduled ??= setTimeout(() => {
        this.#scheduled = null;
        this.load();
      }, TOGETHER);
    });
    setInterval(() => !document.hidden && this.#refreshTimes(), TIME_TICK);
  }

  async load() {
    try {
      const { jobs, error } = await ask("api/copilot/job/running");
      if (!jobs) throw new Error(`The server returned ${error}.`);
      this.#jobs = jobs;
      this.#show();
    } catch (problem) {
      this.#shown = null;
      place.replaceChildren(make("p", { class: "field-problem", role: "alert", text: `Could not load jobs: ${problem.message}` }));
    }
  }

  #show() {
    const waits = (jobId) => (inbox.jobs.get(jobId)?.waiting.length ?? 0) > 0;
    const text = JSON.stringify(this.#jobs.map((job) => [job, waits(job.jobId)]));
    // What says the same is left alone, so that the focus stays where it is.
    if (text === this.#shown) return;
    this.#shown = text;
    const running = this.#jobs.filter(({ status }) => status === "Running").length;
    byId("jobs-summary").textContent = running > 0 ? `${running} running` : "";
    if (this.#jobs.length === 0) place.replaceChildren(make("p", { class: "empty", text: "No jobs are running." }));
    else place.replaceChildren(...this.#jobs.map((job) => row(job, waits(job.jobId))));
  }

  #refreshTimes() {
    for (const time of place.querySelectorAll("time")) time.textContent = ago(time.dateTime);
  }
}

function row({ jobId, jobName, startTime, status }, waits) {
  const state = jobStateElement(waits && status === "Running" ? "Waiting" : status);
  state.classList.add("running-job-status", `running-job-status-${String(status).toLowerCase()}`);
  return make(
    "div",
    { class: "running-job-item", data: { job: jobId } },
    state,
    make("span", { class: "running-job-name", title: exactString(`${jobName} (${jobId})`) }, make("bdi", {}, ...exactNodes(jobName, { oneLine: true }))),
    make("time", { class: "running-job-time", datetime: startTime, title: `Started ${exactTime(startTime)}`, text: ago(startTime) }),
    make("a", { class: "running-job-view-btn button", href: jobAddress({ jobId, jobName }), target: "_blank", text: "View", "aria-label": exactString(`View ${jobName}`) }),
  );
}
