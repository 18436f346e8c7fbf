// The service worker (sw.js): with it the pages can be installed, open without the server, and get pushed notifications.

let started = null;

/** Registers the service worker. Resolves with its registration, or null if this browser offers none here. */
export function startServiceWorker() {
  started ??= register();
  return started;
}

async function register() {
  // Browsers offer it over HTTPS and on localhost only.
  if (!("serviceWorker" in navigator)) return null;
  try {
    // A new version must be found whatever the browser has cached.
    return (await navigator.serviceWorker.register("/sw.js", { updateViaCache: "none" })) ?? null;
  } catch {
    // The pages work without it: storage may be turned off, or the server may be stopping.
    return null;
  }
}
