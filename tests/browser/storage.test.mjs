// Browsers may refuse to keep anything: the pages work, and what is chosen lasts as long as the page.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { send, shown, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

/** A page at `address` in a browser that refuses both storages, and locks too. */
async function openWithoutStorage(address) {
  const context = await deck.openStrangersContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(() => {
    const refuse = () => {
      throw new DOMException("The storage is disabled.", "SecurityError");
    };
    for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get: refuse });
    // The empty page before the first one has none.
    if (!globalThis.LockManager) return;
    LockManager.prototype.request = async () => refuse();
    LockManager.prototype.query = async () => refuse();
  });
  const page = await context.newPage();
  const { code } = await deck.server.call("POST", "login-code");
  await page.goto(`${deck.server.url}/login?code=${code}&next=${encodeURIComponent(address)}`);
  return page;
}

function repository(name) {
  const folder = path.join(deck.server.folder, name);
  mkdirSync(folder, { recursive: true });
  const git = (...words) => execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...words], { cwd: folder });
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "--message=first");
  writeFileSync(path.join(folder, "new.txt"), "new\n");
  return folder;
}

test("a session, its changes and the sidebar work without storage", async () => {
  const folder = repository("stored-nowhere");
  const other = await deck.server.session({ title: "The other one", workingDirectory: folder });
  const id = await deck.server.session({ title: "This one", workingDirectory: folder });
  const page = await openWithoutStorage(`/?session=${id}`);
  await shown(page);
  await turn(page, "hello");
  await send(page, "permission");
  await page.locator(".request-choice").first().click();
  await page.locator(".turn-end").nth(1).waitFor();
  // The height of the request, and the height of blocks.
  await page.locator("#resize-bar").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Alt+c");
  await page.locator(".changes-file").first().click();
  await page.getByText("Side by side").click();
  await page.locator("#side-panel.side-by-side-panel").waitFor();
  await page.keyboard.press("Escape");
  // The sidebar: folders, closing one, closing and opening the whole; a session of it opens without a new login.
  await page.locator(".sidebar-row", { hasText: "The other one" }).waitFor();
  await page.locator(".sidebar-by-folder").click();
  const head = page.locator(".sidebar-folder", { hasText: "stored-nowhere" });
  await head.click();
  await waitFor(async () => (await page.locator(".sidebar-row:visible", { hasText: "The other one" }).count()) === 0, "the folder to close");
  await head.click();
  await page.locator("#sidebar-button").click();
  await page.locator("#sidebar").waitFor({ state: "hidden" });
  await page.locator("#sidebar-button").click();
  await page.locator(".sidebar-row:visible", { hasText: "The other one" }).click();
  await page.waitForURL((url) => url.searchParams.get("session") === other);
  await shown(page);
  // News arrives although no lock can be had.
  await deck.server.api("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  await waitForText(page.locator("#inbox-count"), "1");
});

test("the settings work without storage, and say what is not kept", async () => {
  const page = await openWithoutStorage("/settings.html");
  await page.locator("#section-list a", { hasText: "Appearance" }).click();
  await page.locator("#theme-select").selectOption("dark");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.locator("#full-height-switch").click();
  await page.locator("#times-select").selectOption("exact");
  await waitFor(async () => (await page.getByText("This browser can't save it").count()) === 3, "three notes");
  await page.locator("#section-list a").first().click();
  await page.locator(".settings-section[data-built]:visible .setting-group").first().waitFor();
});
