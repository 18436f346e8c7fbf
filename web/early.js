// Runs before anything else, so it is not a module: the chosen theme must apply before the first paint, and the session
// that the address names is fetched while the modules are still loading.
(() => {
  const LONGEST_WAIT_MS = 100;
  try {
    const theme = localStorage.getItem("flightdeck.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Without storage, the system's theme applies.
  }
  document.documentElement.dataset.sidebar = sidebarState();
  window.flightdeckFirstFrame = firstFrame();
  // The browser may offer to install the app before anything could use the offer (see lib/install.js).
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    window.flightdeckInstallPrompt = event;
  });
  addEventListener("appinstalled", () => {
    window.flightdeckInstallPrompt = null;
  });
  const secret = takeSecret();
  const session = new URLSearchParams(location.search).get("session");
  if (!session) return;
  document.documentElement.classList.add("for-session");
  const path = `api/copilot/session/${encodeURIComponent(session)}`;
  // Failures are ignored here: the code that needs the answer sends the request again.
  const answers = [path, `${path}/log?before=${Number.MAX_SAFE_INTEGER}&limit=40`].map((address) => [address, fetch(address, { headers: secret ? { "Flightdeck-Secret": secret } : {} }).catch(() => null)]);
  window.flightdeckEarlyAnswers = new Map(answers);

  /**
   * Resolves after the first frame. A browser that has the modules at hand would run them before it paints anything; then the
   * old page, or nothing, would be seen for longer. A page that nobody looks at has no frames.
   */
  function firstFrame() {
    return new Promise((resolve) => {
      if (document.hidden) return resolve();
      requestAnimationFrame(() => setTimeout(resolve));
      addEventListener("visibilitychange", resolve, { once: true });
      setTimeout(resolve, LONGEST_WAIT_MS);
    });
  }

  /** Whether the sidebar is open, so that its place is reserved before anything is shown (see sidebar/sidebar.js). */
  function sidebarState() {
    let kept = null;
    let keptForJobs = null;
    try {
      kept = localStorage.getItem("flightdeck.sidebar");
      keptForJobs = localStorage.getItem("flightdeck.sidebar.jobs");
    } catch {
      // Without storage, wide windows have one.
    }
    const isChosen = (state) => state === "open" || state === "closed";
    const hasRoom = (width) => matchMedia(`(min-width: ${width}px)`).matches;
    if (!location.pathname.startsWith("/job")) return isChosen(kept) ? kept : hasRoom(1400) ? "open" : "closed";
    // The pages of jobs have two parts of their own: there it is open beside them if that was chosen there, or if there is room.
    if (isChosen(keptForJobs)) return keptForJobs;
    return kept !== "closed" && hasRoom(1700) ? "open" : "closed";
  }

  /** The secret of the login (see lib/api.js). Without storage, the login page passes it in the fragment. */
  function takeSecret() {
    try {
      return localStorage.getItem("flightdeck.secret");
    } catch {
      const [, found] = location.hash.match(/^#secret=(.+)$/) ?? [];
      if (found) history.replaceState(null, "", location.pathname + location.search);
      window.flightdeckSecret = found;
      return found;
    }
  }
})();
