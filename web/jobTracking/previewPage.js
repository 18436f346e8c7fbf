// A job that has not been started: its chart, and what each work would do.

import { ask } from "../lib/api.js";
import { Banners } from "../lib/banners.js";
import { byId, make, setText } from "../lib/dom.js";
import { readDraft } from "../lib/drafts.js";
import { exactElement } from "../lib/exactText.js";
import { jobDefinitions } from "../lib/jobs.js";
import { inputDraft } from "../lib/jobInput.js";
import { ChartView } from "./chartView.js";
import { previewOf } from "./previewWork.js";

export class PreviewPage {
  view;
  #jobName;
  #folder;
  #models;
  #banners = new Banners();
  /** What the dry run says: null while it runs, `{ works }` or `{ problem }` afterwards. */
  #preview = null;

  /** `models` are those that replace the entry's, by category. */
  constructor(jobName, folder, models = undefined) {
    this.#jobName = jobName;
    this.#folder = folder;
    this.#models = models;
    this.view = new ChartView(jobName, folder);
    this.view.showWork = (node, place) => this.#showWork(node, place);
    byId("job-status-label").textContent = "JOB: PREVIEW";
    // There is nothing to stop.
    byId("stop-job-button").remove();
    document.documentElement.classList.add("is-preview");
  }

  async open() {
    try {
      const { jobs, chart, error } = await jobDefinitions(this.#folder);
      if (error) throw new Error(error);
      if (!jobs?.[this.#jobName]) throw new Error(`There is no job with this name. Available jobs: ${Object.keys(jobs ?? {}).join(", ") || "none"}.`);
      const job = jobs[this.#jobName];
      this.view.draw(job, chart[this.#jobName]?.nodes, this.#jobName);
      await this.#dryRun(job);
    } catch (problem) {
      setText(byId("job-problem"), `Could not load the job: ${problem.message}`);
    }
  }

  /** There is nothing to answer in a preview. */
  goToRequest() {}

  async #dryRun({ requireUserInput }) {
    if (!this.#folder) this.#preview = { problem: "To see what this step would do, open the preview from a folder's jobs page." };
    else {
      // Without input, prompts show where it would be.
      const userInput = requireUserInput ? readDraft(inputDraft(this.#folder, this.#jobName)) || "$user-input" : undefined;
      try {
        this.#preview = await ask("api/jobs", { json: { jobName: this.#jobName, workingDirectory: this.#folder, userInput, models: this.#models, dryRun: true } });
        this.#warn(this.#preview.warnings ?? []);
      } catch (problem) {
        this.#preview = { problem: `Could not preview this step: ${problem.message}` };
      }
    }
    // The step that was chosen meanwhile.
    const { selectedWork } = this.view;
    if (selectedWork !== null) {
      this.view.select(null);
      this.view.select(selectedWork);
    }
  }

  #warn(warnings) {
    if (warnings.length === 0) return;
    const items = warnings.map((warning) => exactElement("li", {}, typeof warning === "string" ? warning : `${warning.path}: ${warning.message}`));
    this.#banners.show("warnings", { tone: "waiting", text: make("span", {}, "Before you start this job:", make("ul", { class: "banner-list" }, ...items)), onDismiss: () => {} });
  }

  #showWork({ workId, label }, place) {
    const work = this.#preview?.works?.find((one) => one.workId === workId);
    if (work) place.append(previewOf(work));
    else place.append(make("p", { class: "empty work-empty", role: "status", text: this.#preview?.problem ?? (this.#preview ? `The dry run has no details for ${label}.` : "Loading …") }));
  }
}
