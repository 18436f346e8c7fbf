// What tests of the settings page do again and again.

import { readFile } from "node:fs/promises";
import path from "node:path";
import { waitFor } from "./waiting.mjs";

/** Opens a section and waits until it is there. */
export async function openSettings(deck, section = "agents", context = {}) {
  const page = await deck.openPage(`/settings.html#${section}`, context);
  await page.locator(`#section-${section}[data-built]`).waitFor();
  await page.locator("#inbox-button:enabled").waitFor();
  return page;
}

/** The row of a setting. */
export function setting(page, key) {
  return page.locator(`.setting[data-key="${key}"]`);
}

/** The text of the user's own file. */
export async function settingsFile(server) {
  return readFile(settingsPath(server), "utf8").catch(() => "");
}

export function settingsPath(server) {
  return path.join(server.folder, "home/config/flightdeck/flightdeck.toml");
}

/** Waits until the file says something. */
export function fileSays(server, text) {
  return waitFor(async () => (await settingsFile(server)).includes(text), `the file to say ${text}`);
}

/** Fills a field of an open form by its label. */
export async function fillField(form, label, value) {
  await form.getByLabel(label, { exact: true }).fill(value);
}
