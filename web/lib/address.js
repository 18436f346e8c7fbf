// The page's address: it names the session, so that it can be bookmarked and opened twice.

/** The session that the address names, if it names one. */
export function sessionInAddress() {
  return new URLSearchParams(location.search).get("session");
}

/** The folder beside the repository that the address names. */
export function projectInAddress() {
  return new URLSearchParams(location.search).get("project");
}

export function sessionAddress(id) {
  return `?session=${encodeURIComponent(id)}`;
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
