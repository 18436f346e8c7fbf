// Installing the pages as an app. A browser offers it by an event, which early.js keeps until somebody asks for it.

/** Whether the browser offers to install the app now. */
export function canInstall() {
  return Boolean(window.flightdeckInstallPrompt);
}

/** Asks the person whether to install the app. The offer is used up by that. */
export async function install() {
  const offer = window.flightdeckInstallPrompt;
  if (!offer) return;
  window.flightdeckInstallPrompt = null;
  await offer.prompt();
}
