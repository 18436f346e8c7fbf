// The input of a job, and the buttons that preview and start it.

import { jobAddress, previewAddress } from "../lib/address.js";
import { ask } from "../lib/api.js";
import { Attempts } from "../lib/attempts.js";
import { byId, make, setText } from "../lib/dom.js";
import { keepDraft, readDraft, showDraftNote } from "../lib/drafts.js";
import { exactString } from "../lib/exactText.js";
import { inputDraft } from "../lib/jobInput.js";

const textarea = byId("user-input-textarea");
const buttons = { start: byId("start-job-button"), preview: byId("preview-button") };

export class JobStart {
  #folder;
  #models;
  #job = null;
  #attempts = new Attempts();

  /** `models` says which models replace the entry's. */
  constructor(folder, models) {
    this.#folder = folder;
    this.#models = models;
    textarea.addEventListener("input", () => {
      this.#say("");
      keepDraft(inputDraft(folder, this.#job.jobName), textarea.value);
      this.#showDraftNote();
    });
    buttons.start.addEventListener("click", () => this.#start());
    buttons.preview.addEventListener("click", () => this.#preview());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      buttons.start.click();
    });
  }

  /** `job` is `{ jobName, requireUserInput }`, or null when none is chosen. */
  setJob(job) {
    if (job && job.jobName === this.#job?.jobName && job.requireUserInput === this.#job.requireUserInput) return;
    this.#job = job;
    const takesInput = job?.requireUserInput === true;
    textarea.disabled = !takesInput;
    textarea.value = takesInput ? readDraft(inputDraft(this.#folder, job.jobName)) : "";
    this.#showDraftNote();
    textarea.placeholder = takesInput ? "What should the job work on?" : "";
    byId("user-input-hint").textContent = hintFor(job);
    buttons.start.textContent = job ? `Start Job: ${exactString(job.jobName)}` : "Job Not Selected";
    for (const button of Object.values(buttons)) button.disabled = !job;
    this.#say("");
    setText(byId("job-started"), "");
  }

  #say(text) {
    setText(byId("job-problem"), text);
    textarea.setAttribute("aria-invalid", String(Boolean(text) && !textarea.disabled));
  }

  #showDraftNote() {
    showDraftNote(byId("user-input-draft-note"), inputDraft(this.#folder, this.#job?.jobName));
  }

  #preview() {
    window.open(previewAddress({ jobName: this.#job.jobName, folder: this.#folder, models: this.#models.chosen }), "_blank");
  }

  async #start() {
    const job = this.#job;
    if (!job || buttons.start.disabled) return;
    if (job.requireUserInput && textarea.value.trim() === "") {
      this.#say("This job needs input.");
      textarea.focus();
      return;
    }
    buttons.start.disabled = true;
    this.#say("");
    try {
      const userInput = job.requireUserInput ? textarea.value : undefined;
      const { chosen } = this.#models;
      const json = { jobName: job.jobName, workingDirectory: this.#folder, userInput, models: Object.keys(chosen).length > 0 ? chosen : undefined };
      const content = JSON.stringify(json);
      const { jobId } = await ask("api/jobs", { json, headers: { "Idempotency-Key": this.#attempts.keyFor(content) } });
      this.#attempts.arrived(content);
      keepDraft(inputDraft(this.#folder, job.jobName), "");
      this.#showDraftNote();
      this.#started({ jobId, jobName: job.jobName });
    } catch (problem) {
      this.#say(`Could not start the job: ${problem.message}`);
    } finally {
      buttons.start.disabled = this.#job === null;
    }
  }

  /** A browser may refuse to open a tab, so there is always a link too. */
  #started(job) {
    const address = jobAddress(job);
    window.open(address, "_blank");
    const place = byId("job-started");
    place.replaceChildren(`Started ${exactString(job.jobName)}. `, make("a", { href: address, target: "_blank", text: "Open job" }));
    place.hidden = false;
  }
}

function hintFor(job) {
  if (!job) return "Choose a job first.";
  return job.requireUserInput ? "Every step whose prompt uses $user-input gets this text." : "This job takes no input.";
}
