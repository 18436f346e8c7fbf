// Jobs: the button that opens them, and those that run.

import { byId, make } from "../lib/dom.js";

/** The server has no routes for jobs yet; the button and the list are where they will be. */
const HAS_JOBS = false;

export function useJobs(workingDirectory) {
  const button = byId("jobs-button");
  button.disabled = !HAS_JOBS;
  button.title = HAS_JOBS ? "Choose a job to run in this folder" : "This server has no jobs yet";
  button.addEventListener("click", () => {
    location.href = `/jobs.html?wb=${encodeURIComponent(workingDirectory.path)}`;
  });
  byId("running-jobs-list").replaceChildren(make("p", { class: "empty", text: "No job is running." }));
}
