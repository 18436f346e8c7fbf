// Settings that were saved in one tab are news in the others of the same browser.

import { openChannel } from "./channel.js";

const CHANNEL = "flightdeck.settings";

/** Tells the other tabs that settings were saved. */
export function tellSettingsChanged() {
  const channel = openChannel(CHANNEL);
  channel?.postMessage("changed");
  channel?.close();
}

/** Calls back when another tab has saved settings. */
export function onSettingsChanged(callback) {
  openChannel(CHANNEL)?.addEventListener("message", () => callback());
}
