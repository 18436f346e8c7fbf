// Folders: choosing one of the server's machine, and seeing what changed in a session's.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { openSession, openSetup, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

/** A repository below the server's folder with one commit. */
function repository(name) {
  const folder = path.join(deck.server.folder, name);
  mkdirSync(path.join(folder, "inner"), { recursive: true });
  const git = (...words) => execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...words], { cwd: folder, stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=trunk");
  writeFileSync(path.join(folder, "kept.txt"), "one\ntwo\nthree\n");
  git("add", ".");
  git("commit", "--quiet", "--message=first");
  return folder;
}

const picker = (page) => page.locator(".picker-dialog");

test("a folder is chosen by clicking down and up, and what is a repository is marked", async () => {
  repository("alpha");
  mkdirSync(path.join(deck.server.folder, "beta"), { recursive: true });
  const page = await openSetup(deck);
  await page.locator("#working-dir").fill(deck.server.folder);
  await page.locator("#browse-button").click();
  await waitForText(picker(page).locator('[data-name="alpha"] .picker-note'), "repository");
  assert.equal(await picker(page).locator('[data-name="beta"] .picker-note').count(), 0);
  await picker(page).locator('[data-name="alpha"]').click();
  await picker(page).locator('[data-name="inner"]').waitFor();
  assert.equal(await picker(page).locator(".picker-path").inputValue(), path.join(deck.server.folder, "alpha"));
  await picker(page).getByRole("button", { name: "Parent folder" }).click();
  await picker(page).locator('[data-name="beta"]').click();
  await waitForText(picker(page).locator(".picker-list"), /No folders here/);
  await picker(page).getByRole("button", { name: "Use this folder" }).click();
  await waitFor(async () => (await page.locator("#working-dir").inputValue()) === path.join(deck.server.folder, "beta"), "the chosen folder");
});

test("the keyboard alone chooses too, and a wrong path is said", async () => {
  deck.expectConsoleErrors(/404/);
  mkdirSync(path.join(deck.server.folder, "gamma/delta"), { recursive: true });
  const page = await openSetup(deck);
  await page.locator("#working-dir").fill(deck.server.folder);
  await page.keyboard.press("Alt+b");
  await picker(page).locator('[data-name="gamma"]').waitFor();
  await page.keyboard.press("g");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.name), "gamma");
  await page.keyboard.press("ArrowRight");
  await picker(page).locator('[data-name="delta"]').waitFor();
  await page.keyboard.press("Backspace");
  await waitFor(() => page.evaluate(() => document.activeElement.dataset.name === "gamma"), "the folder it came from");
  await picker(page).locator(".picker-path").fill("/no/such/folder");
  await page.keyboard.press("Enter");
  await waitForText(picker(page).locator(".field-problem"), /./);
  assert.ok(await picker(page).isVisible());
  await picker(page).locator(".picker-path").fill(path.join(deck.server.folder, "gamma"));
  await page.keyboard.press("Enter");
  await picker(page).locator('[data-name="delta"]').waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#working-dir").inputValue(), deck.server.folder, "Escape changes nothing");
});

test("a box that holds nonsense still opens the picker, and folders used before are offered", async () => {
  deck.expectConsoleErrors(/40\d/);
  const folder = path.join(deck.server.folder, "used-before");
  mkdirSync(folder, { recursive: true });
  await deck.server.session({ workingDirectory: folder });
  const page = await openSetup(deck);
  await page.locator("#working-dir").fill("nonsense");
  await page.locator("#browse-button").click();
  await waitForText(picker(page).locator(".field-problem"), /./);
  await picker(page).locator(`.picker-recent button[title="${folder}"]`).click();
  await waitFor(async () => (await picker(page).locator(".picker-path").inputValue()) === folder, "the folder");
});

test("the changes of the working directory are listed and shown, and follow the agent's turns", async () => {
  const folder = repository("changed");
  const page = await openSession(deck, await deck.server.session({ workingDirectory: folder }));
  await page.keyboard.press("Alt+c");
  await waitForText(page.locator(".changes-head"), /trunk.*no changes/);
  writeFileSync(path.join(folder, "kept.txt"), "one\n2\nthree\nfour\n");
  writeFileSync(path.join(folder, "new <b>.txt"), "hello\n");
  await turn(page, "hello");
  await waitForText(page.locator(".changes-head"), /2 files/);
  const row = (name) => page.locator(`.changes-list li[data-path="${name}"]`);
  await waitForText(row("kept.txt").locator(".changes-added"), "+2");
  await waitForText(row("kept.txt").locator(".changes-removed"), "−1");
  assert.equal(await row("kept.txt").locator(".changes-status").getAttribute("title"), "modified");
  assert.equal(await row("new <b>.txt").locator(".changes-status").getAttribute("title"), "untracked");
  await row("kept.txt").locator("button").click();
  await waitForText(row("kept.txt").locator(".diff-removed .diff-text"), "two");
  assert.deepEqual(await row("kept.txt").locator(".diff-added .diff-text").allTextContents(), ["2", "four"]);
  await row("new <b>.txt").locator("button").click();
  await waitForText(row("new <b>.txt").locator(".diff-added .diff-text"), "hello");
});

test("a folder without a repository says that there is nothing to compare with", async () => {
  const page = await openSession(deck, await deck.server.session());
  await page.locator("#changes-button").click();
  await waitForText(page.locator(".side-panel-body"), /git/i);
  await page.keyboard.press("Escape");
  await page.locator("#side-panel").waitFor({ state: "hidden" });
});
