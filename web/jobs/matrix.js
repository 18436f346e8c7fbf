// The jobs of a folder, as the table that the entry describes. One of them may be chosen.

import { byId, make, setText } from "../lib/dom.js";
import { exactNodes, exactString } from "../lib/exactText.js";
import { jobDefinitions } from "../lib/jobs.js";

export class Matrix {
  /** Called with `{ jobName, requireUserInput }` when a job is chosen, with null when none is. */
  onSelect = () => {};
  #folder;
  #jobs = {};
  #selected = null;

  constructor(folder) {
    this.#folder = folder;
  }

  async load() {
    try {
      const { grid, jobs, error } = await jobDefinitions(this.#folder);
      if (!grid) throw new Error(error ?? "The server returned no jobs.");
      this.#jobs = jobs;
      this.#show(grid);
      setText(byId("matrix-problem"), "");
    } catch (problem) {
      this.#show([]);
      setText(byId("matrix-note"), "");
      setText(byId("matrix-problem"), `Could not load the jobs: ${problem.message}`);
    }
  }

  /** There is no entry, so there are no jobs. */
  clear() {
    this.#jobs = {};
    this.#show([]);
    setText(byId("matrix-note"), "");
    setText(byId("matrix-problem"), "");
  }

  #show(grid) {
    const columns = Math.max(1, ...grid.map(({ jobs }) => jobs.length));
    byId("matrix-head").querySelector(".matrix-stop").colSpan = columns;
    byId("matrix-rows").replaceChildren(...grid.map((row) => this.#row(row, columns)));
    setText(byId("matrix-note"), grid.length === 0 ? "This entry has no jobs." : "");
    this.#select(this.#selected in this.#jobs ? this.#selected : null);
  }

  #row({ keyword, jobs }, columns) {
    const cells = Array.from({ length: columns }, (_, column) => make("td", {}, jobs[column] ? this.#button(jobs[column]) : null));
    return make("tr", {}, make("th", { class: "matrix-keyword", scope: "row" }, ...exactNodes(keyword, { oneLine: true })), ...cells);
  }

  #button({ name, jobName }) {
    const button = make("button", { type: "button", class: "matrix-job-btn", "aria-pressed": "false", title: exactString(jobName), data: { jobName } }, make("bdi", {}, ...exactNodes(name, { oneLine: true })));
    button.addEventListener("click", () => this.#select(this.#selected === jobName ? null : jobName));
    return button;
  }

  #select(jobName) {
    this.#selected = jobName;
    for (const button of byId("matrix-rows").querySelectorAll(".matrix-job-btn")) {
      const isSelected = button.dataset.jobName === jobName;
      button.classList.toggle("selected", isSelected);
      button.setAttribute("aria-pressed", String(isSelected));
    }
    this.onSelect(jobName === null ? null : { jobName, requireUserInput: this.#jobs[jobName]?.requireUserInput === true });
  }
}
