// Settings that were saved in one tab are news in the others of the same browser.

const CHANNEL = "flightdeck.settings";

/** Tells the other tabs that settings were saved. */
export function tellSettingsChanged() {
  const channel = open();
  channel?.postMessage("changed");
  channel?.close();
}

/** Calls back when another tab has saved settings. */
export function onSettingsChanged(callback) {
  open()?.addEventListener("message", () => callback());
}

/** Some browsers refuse channels where they refuse storage. */
function open() {
  try {
    return new BroadcastChannel(CHANNEL);
  } catch {
    return null;
  }
}
