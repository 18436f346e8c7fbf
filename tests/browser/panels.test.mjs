// The panel at the side and the banner about a shared folder.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { openSession, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();
const banner = (page) => page.locator('[data-banner="shared-folder"]');

test("Escape closes the panel wherever the focus is", async () => {
  const page = await openSession(deck, await deck.server.session());
  const panel = page.locator("#side-panel");
  await page.keyboard.press("Alt+s");
  await page.locator("#request-textarea").click();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "hidden" });
  assert.equal(await page.evaluate(() => document.activeElement.id), "request-textarea", "the focus stays where the person writes");
  await page.keyboard.press("Alt+c");
  // Refreshing replaces the button that had the focus.
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "hidden" });
});

test("Escape is for a dialog or menu first, then for the panel", async () => {
  const page = await openSession(deck, await deck.server.session());
  const panel = page.locator("#side-panel");
  await page.keyboard.press("Alt+s");
  await page.locator("#more-button").click();
  await page.locator("#more-menu button").first().waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#more-menu").waitFor({ state: "hidden" });
  assert.ok(await panel.isVisible());
  await page.keyboard.press("Alt+r");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  assert.ok(await panel.isVisible());
  await page.keyboard.press("Control+k");
  await page.locator(".switcher").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".switcher").waitFor({ state: "detached" });
  assert.ok(await panel.isVisible());
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "hidden" });
});

test("only sessions that work in the same folder are warned about, and a dismissal is remembered", async () => {
  const folder = path.join(deck.server.workFolder, "shared");
  await mkdir(folder, { recursive: true });
  const start = (title) => deck.server.session({ title, workingDirectory: folder });
  const [here, idle, works] = [await start("Here"), await start("Idle"), await start("Works")];
  const many = (id) => deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "many 100000 20" });
  await many(works);
  const page = await openSession(deck, here, { viewport: { width: 1440, height: 800 } });
  await waitForText(banner(page), /Another session is working in this folder and may change the same files: Works/);
  assert.doesNotMatch(await banner(page).textContent(), /Idle/);
  await banner(page).getByRole("button", { name: "Dismiss" }).click();
  await banner(page).waitFor({ state: "detached" });
  await page.reload();
  await shown(page);
  await waitFor(async () => /Working/.test(await page.locator(".sidebar-row", { hasText: "Works" }).textContent()), "the list");
  assert.equal(await banner(page).count(), 0, "it was dismissed");
  await many(idle);
  await waitForText(banner(page), /: Idle$/);
  await deck.server.call("POST", `copilot/session/${idle}/interrupt`);
  await banner(page).waitFor({ state: "detached" });
});
