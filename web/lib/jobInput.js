// The input of a job that has not been started: kept, so that a reload and the preview have it.

/** The name under which the draft is kept. */
export function inputDraft(folder, jobName) {
  return `job:${folder}:${jobName}`;
}
