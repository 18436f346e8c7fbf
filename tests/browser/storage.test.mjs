// Browsers may refuse to keep anything: the pages work, and what is chosen lasts as long as the page.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { send, shown, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

/** A page of a browser that refuses every storage, and with it locks and channels. */
async function pageWithoutStorage() {
  const context = await deck.openStrangersContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(() => {
    const refuse = () => {
      throw new DOMException("The storage is disabled.", "SecurityError");
    };
    for (const name of ["localStorage", "sessionStorage", "indexedDB"]) Object.defineProperty(window, name, { get: refuse });
    globalThis.BroadcastChannel = class {
      constructor() {
        refuse();
      }
    };
    // The empty page before the first one has none.
    if (!globalThis.LockManager) return;
    LockManager.prototype.request = async () => refuse();
    LockManager.prototype.query = async () => refuse();
  });
  return context.newPage();
}

/** Such a page at `address`, logged in by a link. */
async function openWithoutStorage(address) {
  const page = await pageWithoutStorage();
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
  // News arrives although neither locks nor channels can be had.
  await deck.server.api("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  await waitForText(page.locator("#inbox-count"), "1");
});

test("without storage a draft outlasts the way to another session, and what a reload loses is said once", async () => {
  const [one, other] = [await deck.server.session({ title: "Written here" }), await deck.server.session({ title: "Looked at" })];
  const page = await openWithoutStorage(`/?session=${one}`);
  await shown(page);
  await page.locator("#request-textarea").fill("half a thought");
  await page.locator("#storage-note").waitFor();
  assert.ok(await page.locator("#draft-note").isHidden());
  await page.locator(".sidebar-row", { hasText: "Looked at" }).click();
  await page.waitForURL((url) => url.searchParams.get("session") === other);
  await shown(page);
  assert.equal(await page.locator("#request-textarea").inputValue(), "");
  await page.locator(".sidebar-row", { hasText: "Written here" }).click();
  await page.waitForURL((url) => url.searchParams.get("session") === one);
  await shown(page);
  assert.equal(await page.locator("#request-textarea").inputValue(), "half a thought");
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

for (const wanted of ["/", "/?session="]) {
  test(`the token logs in without storage at ${wanted}, leaves no secret in the history, and the page says what is not kept`, async () => {
    deck.expectConsoleErrors(/401/);
    const id = await deck.server.session();
    const address = wanted === "/" ? wanted : `${wanted}${id}`;
    const page = await pageWithoutStorage();
    await page.goto(deck.server.url + address);
    await page.locator("#token").fill(await deck.server.token());
    await page.getByRole("button", { name: "Log in" }).click();
    if (wanted === "/") await page.locator(".session-row").first().waitFor();
    else await shown(page);
    assert.equal(page.url(), deck.server.url + address);
    const { entries } = await (await page.context().newCDPSession(page)).send("Page.getNavigationHistory");
    assert.deepEqual(entries.map(({ url }) => url).filter((url) => url.includes("secret")), []);
    // Said once, until it is dismissed, wherever the page goes.
    const note = page.locator("#storage-note");
    await waitForText(note, /storage is off.*log in again/);
    assert.equal(await note.count(), 1);
    await note.getByRole("button", { name: "Dismiss" }).click();
    await note.waitFor({ state: "detached" });
    if (wanted !== "/") await page.locator("#home-link").click();
    await page.locator(".session-row a").first().click();
    await shown(page);
    assert.equal(await note.count(), 0);
  });
}

test("a browser with storage is told nothing of it", async () => {
  const page = await deck.openPage("/");
  await page.locator("#inbox-button:enabled").waitFor();
  assert.equal(await page.locator("#storage-note").count(), 0);
});
