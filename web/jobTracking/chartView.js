// Both parts of the page: the chart with its scale, and beside it what belongs to the chosen work.

import { byId, isWriting, make, setText } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { shortPath } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { setSubject } from "../lib/pageTitle.js";
import { Chart } from "./chart.js";

const details = byId("session-response-part");

export class ChartView {
  /** Called with the chosen node (`{ workId, label, kind }`) to fill the right part. */
  showWork = () => {};
  /** Called when the right part is about to show something else. */
  leaveWork = () => {};
  #chart = null;
  #definition = null;
  #works = new Map();

  constructor(jobName, folder) {
    byId("page-heading").textContent = exactString(jobName);
    setSubject(jobName);
    this.setFolder(folder);
    const back = byId("right-part").querySelector(".phone-back-btn");
    back.prepend(icon("back"));
    this.#useZoom();
  }

  setFolder(folder) {
    byId("page-folder").textContent = shortPath(folder ?? "", 48);
    byId("page-folder").title = folder ?? "";
  }

  /** Draws the chart, once. The job and its chart are shown as JSON while no node is chosen. */
  draw(job, nodes, jobName) {
    if (this.#chart) return;
    this.#definition = JSON.stringify({ job, chart: { nodes } }, undefined, 4);
    this.#chart = new Chart(byId("chart-container"), nodes, exactString(jobName));
    this.#chart.onSelect = (node) => this.#selected(node);
    this.#chart.zoom.addEventListener("change", () => this.#showScale());
    setText(byId("chart-note"), this.#chart.note);
    this.#chart.setWorks(this.#works);
    this.#showScale();
    this.#showDefinition();
  }

  get isDrawn() {
    return this.#chart !== null;
  }

  get selectedWork() {
    return this.#chart?.selectedWork ?? null;
  }

  /** Shows the states of works: id → WorkState. */
  setWorks(works) {
    this.#works = works;
    this.#chart?.setWorks(works);
  }

  /** Chooses the node of a work, or none. */
  select(workId) {
    this.#chart?.select(workId);
    if (workId === null) {
      document.documentElement.classList.remove("shows-details");
      this.#chart?.focus();
    } else this.#chart?.reveal(workId);
  }

  /** On a phone, shows the right part. */
  showDetails() {
    document.documentElement.classList.add("shows-details");
  }

  #selected(node) {
    this.leaveWork();
    if (!node) {
      document.documentElement.classList.remove("shows-details");
      this.#showDefinition();
      return;
    }
    details.replaceChildren();
    this.showDetails();
    this.showWork(node, details);
    // On a phone, what waits for an answer stands above it.
    details.scrollIntoView({ block: "start" });
  }

  #showDefinition() {
    details.replaceChildren(make("pre", { class: "job-definition", text: this.#definition }));
  }

  #useZoom() {
    const actions = { "zoom-in-button": "larger", "zoom-out-button": "smaller", "zoom-reset-button": "reset", "zoom-fit-button": "fit" };
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", () => this.#chart?.zoom[action]());
    const keys = { "+": "larger", "=": "larger", "-": "smaller", 0: "reset", f: "fit" };
    document.addEventListener("keydown", (event) => {
      const action = keys[event.key];
      // A digit may be meant for a request that takes keys.
      if (!action || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target) || event.target.closest?.(".request-block")) return;
      event.preventDefault();
      this.#chart?.zoom[action]();
    });
  }

  #showScale() {
    byId("zoom-reset-button").textContent = `${Math.round(this.#chart.zoom.scale * 100)} %`;
  }
}
