// Runs before anything else and is no module for that reason: a chosen theme must not flash in the other one first, and
// the session that the address names is asked for while the modules are still on their way.
(() => {
  try {
    const theme = localStorage.getItem("flightdeck.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Without a store the system decides.
  }
  const secret = takeSecret();
  const session = new URLSearchParams(location.search).get("session");
  if (!session) return;
  document.documentElement.classList.add("for-session");
  const path = `api/copilot/session/${encodeURIComponent(session)}`;
  // A failure here is nobody's: whoever wants the answer then asks himself.
  const answers = [path, `${path}/log?before=${Number.MAX_SAFE_INTEGER}&limit=40`].map((address) => [address, fetch(address, { headers: secret ? { "Flightdeck-Secret": secret } : {} }).catch(() => null)]);
  window.flightdeckEarlyAnswers = new Map(answers);

  /** The secret of the login (see lib/api.js). Without storage the login page hands it over in the fragment. */
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
