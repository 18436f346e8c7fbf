// The page's address: it names the session, so that it can be bookmarked and opened twice.

/** The page of settings; a hash names a section. */
export const SETTINGS_PAGE = "/settings.html";

const named = (name) => new URLSearchParams(location.search).get(name);

/** The session that the address names, if it names one. */
export function sessionInAddress() {
  return named("session");
}

/** The panel that is to be opened with the page, by its name. */
export function panelInAddress() {
  return named("panel");
}

/** The turn whose changes that panel is to show. */
export function turnInAddress() {
  return named("turn");
}

/** The event in that session that the address names, by its number; null if it names none. */
export function eventInAddress() {
  const event = Number(new URLSearchParams(location.search).get("event"));
  return Number.isSafeInteger(event) && event > 0 ? event : null;
}

/** The folder beside the repository that the address names. */
export function projectInAddress() {
  return named("project");
}

/** The folder whose jobs the address is about. */
export function folderInAddress() {
  return named("wb");
}

/** The job that the address names: `{ jobName, jobId }`; one that has not been started has no id. */
export function jobInAddress() {
  return { jobName: named("jobName"), jobId: named("jobId") };
}

/** The job whose page is wanted, by its id alone. */
export function jobToOpen() {
  return named("job");
}

/** Models by category that a preview was opened with, if any. */
export function modelsInAddress() {
  try {
    return JSON.parse(named("models")) ?? undefined;
  } catch {
    return undefined;
  }
}

/** The page of a session; within that page only the query changes. `event` is the number of the event to show. */
export function sessionAddress(id, event = null) {
  const page = ["/", "/index.html"].includes(location.pathname) ? "" : "/index.html";
  return `${page}?session=${encodeURIComponent(id)}${event === null ? "" : `&event=${event}`}`;
}

/** The page of a session, with the changes of one of its turns. */
export function turnChangesAddress(id, turn) {
  return `${sessionAddress(id)}&panel=changes&turn=${encodeURIComponent(turn)}`;
}

/** The page on which a job of a folder is chosen. */
export function jobsAddress(folder) {
  return `/jobs.html?${new URLSearchParams({ wb: folder })}`;
}

/** The page that follows a job. */
export function jobAddress({ jobId, jobName }) {
  return `/jobTracking.html?${new URLSearchParams({ jobName, jobId })}`;
}

/** The page that shows what a job of a folder would do, with other models by category if `models` is not empty. */
export function previewAddress({ jobName, folder, models = {} }) {
  const query = new URLSearchParams({ jobName, wb: folder });
  if (Object.keys(models).length > 0) query.set("models", JSON.stringify(models));
  return `/jobTracking.html?${query}`;
}

/** The set-up; it keeps the project that the address named. */
export function setupAddress() {
  const project = projectInAddress();
  return project ? `?project=${encodeURIComponent(project)}` : location.pathname;
}

/** Goes to an address within the page; listeners of `popstate` show it. */
export function goTo(address) {
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}
