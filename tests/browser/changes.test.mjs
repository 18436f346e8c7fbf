// The panel of changes: scopes, views, keys, patches, reverts.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { checkAccessibility, choose, openSession, reconnect, send, shown, turn, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const deck = useDeck();

const WIDE = { viewport: { width: 1400, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);

/** A repository with one commit. */
class Repository {
  constructor(name) {
    this.folder = path.join(deck.server.folder, name);
    mkdirSync(this.folder, { recursive: true });
    this.git("init", "--quiet", "--initial-branch=trunk");
    this.write("long.txt", `${LINES.join("\n")}\n`);
    this.write("kept.txt", "one\nthe second line\nthree\n");
    this.git("add", ".");
    this.git("commit", "--quiet", "--message=first");
  }

  git(...words) {
    return execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...words], { cwd: this.folder, encoding: "utf8", stdio: "pipe" });
  }

  write(name, text) {
    mkdirSync(path.dirname(path.join(this.folder, name)), { recursive: true });
    writeFileSync(path.join(this.folder, name), text);
  }

  read(name) {
    return readFileSync(path.join(this.folder, name), "utf8");
  }

  /** Two hunks in one file, a changed word in another, a new file. */
  change() {
    const lines = [...LINES];
    lines[1] = "second line";
    lines[30] = "thirty-first line";
    this.write("long.txt", `${lines.join("\n")}\n`);
    this.write("kept.txt", "one\nthe other line\nthree\n");
    this.write("new/file.txt", "new\n");
  }
}

async function openPanel(repository, context) {
  const id = await deck.server.session({ workingDirectory: repository.folder });
  const page = await openSession(deck, id, context);
  await page.keyboard.press("Alt+c");
  await page.locator(".changes-summary code").waitFor();
  return page;
}

/** Begins a turn that waits for an answer; when this returns, the snapshot of its beginning has been taken. */
async function beginTurn(page) {
  // The panel, and the line at the end of a turn, may know of its end before the request box does.
  await page.locator("#send-button:enabled").waitFor({ state: "attached" });
  await send(page, "permission");
  await page.locator(".request-block.waiting").waitFor();
  const id = new URL(page.url()).searchParams.get("session");
  await deck.server.call("GET", `copilot/session/${id}/changes?scope=session`);
}

const row = (page, name) => page.locator(`.changes-list li[data-path="${name}"]`);
const names = (page) => page.locator(".changes-list li").evaluateAll((rows) => rows.map((one) => one.dataset.path));
const open = async (page, name) => {
  await row(page, name).locator("button.changes-file").click();
  await row(page, name).locator(".changes-file-actions").waitFor();
};
const dialog = (page) => page.locator("dialog[open]");

test("the changes of the session and of each turn are shown apart from those since the last commit", async () => {
  const repository = new Repository("scopes");
  repository.write("mine.txt", "before the session\n");
  const page = await openPanel(repository);
  assert.deepEqual(await names(page), ["mine.txt"]);
  await page.getByRole("button", { name: "Session", exact: true }).click();
  await waitForText(page.locator(".changes-message"), /No turn has begun/);
  for (const [turn, text] of [[1, "first"], [2, "second"]]) {
    await beginTurn(page);
    repository.write("kept.txt", `one\n${text}\nthree\n`);
    repository.write(`turn-${turn}.txt`, `${turn}\n`);
    await choose(page, 1);
    await row(page, `turn-${turn}.txt`).waitFor();
  }
  assert.deepEqual(await names(page), ["kept.txt", "turn-1.txt", "turn-2.txt"]);
  await page.getByRole("button", { name: "Turn", exact: true }).click();
  await waitFor(async () => (await names(page)).join() === "kept.txt,turn-2.txt", "the newest turn");
  await open(page, "kept.txt");
  await waitForText(row(page, "kept.txt").locator(".diff-removed .diff-text"), "first");
  const turns = page.getByLabel("Turn", { exact: true }).and(page.locator("select"));
  assert.match(await turns.locator("option").first().textContent(), /^turn 2 · .*permission/);
  await turns.selectOption("turn-1");
  await waitFor(async () => (await names(page)).join() === "kept.txt,turn-1.txt", "the first turn");
  await page.getByRole("button", { name: "Last commit" }).click();
  await waitFor(async () => (await names(page)).length === 4, "everything since the commit");
  assert.ok((await names(page)).includes("mine.txt"));
});

test("the end of a turn links to what exactly that turn changed", async () => {
  const repository = new Repository("turn-links");
  const id = await deck.server.session({ workingDirectory: repository.folder });
  const page = await openSession(deck, id);
  const links = page.locator("a.turn-changes");
  for (const [number, files] of [[1, ["a.txt"]], [2, ["b.txt", "c.txt"]], [3, []]]) {
    await beginTurn(page);
    for (const file of files) repository.write(file, `${number}\n`);
    await choose(page, 1);
    await page.locator(".turn-end").nth(number - 1).waitFor();
    if (files.length > 0) await links.nth(number - 1).waitFor();
  }
  // A turn without tools changes nothing, and is not asked about.
  const asked = watchCalls(page, /\/changes$/);
  await turn(page, "hello");
  await page.locator(".turn-end").nth(3).hover();
  assert.deepEqual(await links.allTextContents(), ["1 file changed", "2 files changed"]);
  await links.first().click();
  await waitFor(async () => (await names(page)).join() === "a.txt", "the changes of the first turn");
  assert.ok(asked.all.every((call) => call.includes("turn=turn-1") || call.includes("turn=turn-3")), asked.all.join());
  assert.equal(await page.locator("select.changes-turn").inputValue(), "turn-1");
  assert.equal(await page.getByRole("button", { name: "Turn", exact: true }).getAttribute("aria-pressed"), "true");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "1 file changed", "the focus returns to the link");
  await page.keyboard.press("Alt+c");
  await waitFor(async () => (await names(page)).length === 3, "the button still opens all changes");
  // It is a link: another tab opens with the panel, once.
  const other = await page.context().newPage();
  await other.goto(new URL(await links.nth(1).getAttribute("href"), page.url()).href);
  await waitFor(async () => (await names(other)).join() === "b.txt,c.txt", "the changes of the second turn");
  assert.equal(new URL(other.url()).search, `?session=${id}`);
});

test("a long transcript asks for the changes of turns in view only, and once without a repository", async () => {
  const repository = new Repository("many-turns");
  for (const folder of [repository.folder, deck.server.workFolder]) {
    const id = await deck.server.session({ workingDirectory: folder });
    for (let number = 1; number <= 12; number += 1) {
      await deck.server.api("POST", `copilot/session/${id}/prompt`, { text: "tool 2000", wait: true });
    }
    const page = await (await deck.openContext()).newPage();
    const asked = watchCalls(page, /\/changes$/);
    await page.goto(`${deck.server.url}/?session=${id}`);
    await shown(page);
    await page.locator(".turn-end").nth(11).waitFor();
    const inView = () => page.locator(".turn-end").evaluateAll((ends) => ends.filter((end) => end.getBoundingClientRect().bottom > 0 && end.getBoundingClientRect().top < innerHeight).length);
    if (folder === repository.folder) await waitFor(async () => asked.all.length > 0 && asked.underWay === 0, "an answer");
    else await waitFor(() => asked.all.length === 1 && asked.underWay === 0, "the only question");
    assert.ok(asked.all.length <= (await inView()) + 1 && asked.all.length < 12, `${asked.all.length}`);
    assert.match(asked.all[0], /turn=turn-12$/, "the newest first");
    assert.equal(await page.locator("a.turn-changes").count(), 0, "nothing was changed");
  }
});

test("a folder without a repository says plainly that there is nothing to compare with, in every scope", async () => {
  const id = await deck.server.session({ workingDirectory: deck.server.workFolder });
  const page = await openSession(deck, id);
  await page.keyboard.press("Alt+c");
  await waitForText(page.locator(".changes-message"), /not in a git repository/);
  await page.getByRole("button", { name: "Session", exact: true }).click();
  await waitForText(page.locator(".changes-message"), /No turn/);
  assert.equal(await page.getByRole("button", { name: "Copy patch" }).isDisabled(), true);
});

test("files are shown inline or side by side, and the choice is remembered", async () => {
  const repository = new Repository("views");
  repository.change();
  const page = await openPanel(repository, WIDE);
  await page.getByRole("button", { name: "Expand all" }).click();
  await waitFor(async () => (await page.locator(".changes-file-actions").count()) === 3, "all files");
  assert.equal(await page.locator(".diff-file:visible").count(), 0, "the name is there once");
  assert.equal(await row(page, "kept.txt").locator(".diff-added .diff-word").textContent(), "other");
  await page.getByRole("button", { name: "Side by side" }).click();
  const table = row(page, "kept.txt").locator("table.side-by-side");
  await table.waitFor();
  const changed = table.locator("tr", { hasText: "the other line" });
  assert.deepEqual(await changed.locator("td").allTextContents(), ["2", "the second line", "2", "the other line"]);
  assert.equal(await changed.locator(".diff-word").count(), 2, "words are marked on both sides");
  assert.equal(await row(page, "new/file.txt").locator(".diff-nothing").count(), 2);
  await page.reload();
  await shown(page);
  await page.keyboard.press("Alt+c");
  await open(page, "kept.txt");
  await table.waitFor();
  await page.setViewportSize({ width: 1000, height: 800 });
  await row(page, "kept.txt").locator("table.diff-lines:not(.side-by-side)").waitFor();
  assert.equal(await page.getByRole("button", { name: "Side by side" }).isVisible(), false);
  await page.setViewportSize(WIDE.viewport);
  await table.waitFor();
  await page.getByRole("button", { name: "Collapse all" }).waitFor({ state: "detached" });
});

test("all files are opened and closed together, however many there are", async () => {
  const repository = new Repository("many-files");
  for (let number = 0; number < 205; number += 1) repository.write(`file-${number}.txt`, `${number}\n`);
  const page = await openPanel(repository);
  const all = page.getByRole("button", { name: /all files|Expand all|Collapse all/ }).first();
  const opened = () => page.locator('.changes-file[aria-expanded="true"]').count();
  await all.click();
  await waitForText(all, "Collapse all");
  assert.equal(await opened(), 200, "as many as a page can show");
  await page.locator("button.changes-file").last().click();
  assert.equal(await opened(), 201);
  await all.click();
  await waitForText(all, "Expand all");
  assert.equal(await opened(), 0);
});

test("keys go from change to change and from file to file, and open what is closed", async () => {
  const repository = new Repository("keys");
  repository.change();
  const page = await openPanel(repository);
  const focused = () => page.evaluate(() => `${document.activeElement.closest("li")?.dataset.path} ${document.activeElement.textContent.match(/@@[^@]*@@/)?.[0] ?? "file"}`);
  const press = async (key, expected) => {
    await page.keyboard.press(key);
    await waitFor(async () => (await focused()) === expected, `${key} to lead to ${expected}, not ${await focused()}`);
  };
  await press("n", "kept.txt @@ -1,3 +1,3 @@");
  await press("n", "long.txt @@ -1,5 +1,5 @@");
  await press("n", "long.txt @@ -28,7 +28,7 @@");
  await press("n", "new/file.txt @@ -0,0 +1 @@");
  await press("n", "new/file.txt @@ -0,0 +1 @@");
  await press("p", "long.txt @@ -28,7 +28,7 @@");
  await press("P", "long.txt file");
  await press("P", "kept.txt file");
  await press("N", "long.txt file");
  await press("e", "long.txt file");
  assert.equal(await page.locator('.changes-file[aria-expanded="true"]').count(), 0, "all were open");
  await press("e", "long.txt file");
  assert.equal(await page.locator('.changes-file[aria-expanded="true"]').count(), 3);
  await page.locator("#request-textarea").focus();
  await page.keyboard.type("nope");
  assert.equal(await page.locator("#request-textarea").inputValue(), "nope", "not while writing");
});

test("Escape closes the panel after a refresh, and the focus stays where it was", async () => {
  const repository = new Repository("escape");
  repository.change();
  const page = await openPanel(repository);
  await open(page, "kept.txt");
  const refresh = page.getByRole("button", { name: "Refresh" });
  repository.write("kept.txt", "one\nagain\nthree\n");
  await refresh.click();
  await waitForText(row(page, "kept.txt").locator(".diff-added .diff-text"), "again");
  assert.ok(await refresh.evaluate((button) => button === document.activeElement));
  await page.keyboard.press("Escape");
  await page.locator("#side-panel").waitFor({ state: "hidden" });
});

test("a patch of all files or of one is copied, and git applies it", async () => {
  const repository = new Repository("patches");
  repository.change();
  const clone = `${repository.folder}-clone`;
  const page = await openPanel(repository);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = async (button) => {
    await page.evaluate(() => navigator.clipboard.writeText(""));
    await button.click();
    await waitFor(() => page.evaluate(async () => (await navigator.clipboard.readText()) !== ""), "the patch");
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const all = await copied(page.locator(".changes-actions").getByRole("button", { name: "Copy patch" }));
  repository.git("clone", "--quiet", repository.folder, clone);
  const apply = (patch) => execFileSync("git", ["apply"], { cwd: clone, input: patch });
  apply(all);
  for (const name of ["long.txt", "kept.txt", "new/file.txt"]) assert.equal(readFileSync(path.join(clone, name), "utf8"), repository.read(name));
  execFileSync("git", ["checkout", "--quiet", "."], { cwd: clone });
  await open(page, "kept.txt");
  apply(await copied(row(page, "kept.txt").getByRole("button", { name: "Copy patch" })));
  assert.equal(readFileSync(path.join(clone, "long.txt"), "utf8"), `${LINES.join("\n")}\n`);
  assert.equal(readFileSync(path.join(clone, "kept.txt"), "utf8"), repository.read("kept.txt"));
});

test("a hunk is reverted after a dialog that shows it, and the revert is undone after a restart", async () => {
  // The server is killed below the open page.
  deck.expectConsoleErrors(/ERR_|50\d/);
  const repository = new Repository("reverts");
  repository.change();
  const changed = repository.read("long.txt");
  const page = await openPanel(repository);
  await open(page, "long.txt");
  const revertHunk = (index) => row(page, "long.txt").getByRole("button", { name: "Revert hunk" }).nth(index).click();
  await revertHunk(1);
  await waitForText(dialog(page).locator("h2"), "Revert a hunk of long.txt?");
  assert.deepEqual(await dialog(page).locator(".diff-removed .diff-text").allTextContents(), ["line 31"]);
  assert.equal(await dialog(page).getByText("second line").count(), 0, "only that hunk");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Cancel", "Enter does no harm");
  await page.keyboard.press("Enter");
  await dialog(page).waitFor({ state: "detached" });
  assert.equal(repository.read("long.txt"), changed);
  await revertHunk(1);
  await dialog(page).getByRole("button", { name: "Revert hunk" }).click();
  await waitForText(page.locator(".changes-reverts"), /Reverted hunk 2 of long\.txt/);
  assert.equal(repository.read("long.txt"), changed.replace("thirty-first line", "line 31"));
  await waitFor(async () => (await row(page, "long.txt").locator(".diff-hunk").count()) === 1, "the other hunk");
  assert.ok(await page.evaluate(() => document.querySelector("#side-panel").contains(document.activeElement)), "the keys of the panel still work");
  await deck.server.kill();
  await deck.server.startAgain();
  await page.reload();
  await shown(page);
  await page.keyboard.press("Alt+c");
  await page.getByRole("button", { name: "Undo the revert of long.txt" }).click();
  await page.locator(".changes-reverts").waitFor({ state: "hidden" });
  assert.equal(repository.read("long.txt"), changed);
});

test("a new file is deleted by a revert and restored by undoing it", async () => {
  const repository = new Repository("new-files");
  repository.change();
  const page = await openPanel(repository);
  await open(page, "new/file.txt");
  await row(page, "new/file.txt").getByRole("button", { name: "Revert file" }).click();
  await waitForText(dialog(page), /Reverting deletes it/);
  await dialog(page).getByRole("button", { name: "Revert file" }).click();
  await row(page, "new/file.txt").waitFor({ state: "detached" });
  assert.equal(existsSync(path.join(repository.folder, "new")), false);
  await page.getByRole("button", { name: "Undo the revert of new/file.txt" }).click();
  await row(page, "new/file.txt").waitFor();
  assert.equal(repository.read("new/file.txt"), "new\n");
});

test("while the agent works, the dialog warns; what changed meanwhile is not reverted", async () => {
  deck.expectConsoleErrors(/409/);
  const repository = new Repository("working");
  repository.change();
  const page = await openPanel(repository);
  await open(page, "kept.txt");
  await beginTurn(page);
  await row(page, "kept.txt").getByRole("button", { name: "Revert file" }).click();
  await waitForText(dialog(page).locator(".field-warning"), /agent is working/);
  repository.write("kept.txt", "the agent was here\n");
  await dialog(page).getByRole("button", { name: "Revert file" }).click();
  await waitForText(page.locator(".changes-panel .field-problem"), /has changed since it was shown/);
  assert.equal(repository.read("kept.txt"), "the agent was here\n");
  await waitForText(row(page, "kept.txt").locator(".diff-added .diff-text"), "the agent was here");
});

test("a second tab sees a revert and its undoing", async () => {
  const repository = new Repository("tabs");
  repository.change();
  const first = await openPanel(repository);
  const second = await first.context().newPage();
  await second.goto(first.url());
  await shown(second);
  await second.keyboard.press("Alt+c");
  await row(second, "kept.txt").waitFor();
  await open(first, "kept.txt");
  await row(first, "kept.txt").getByRole("button", { name: "Revert file" }).click();
  await dialog(first).getByRole("button", { name: "Revert file" }).click();
  // Each tab asks for itself: the row that is waited for below is not the one that was reverted.
  for (const tab of [first, second]) await row(tab, "kept.txt").waitFor({ state: "detached" });
  await second.getByRole("button", { name: "Undo the revert of kept.txt" }).click();
  await row(first, "kept.txt").waitFor();
  assert.equal(repository.read("kept.txt"), "one\nthe other line\nthree\n");
});

test("a server that dies during a revert leaves it open whether the file was reverted, and the list says so when it is back", async () => {
  deck.expectConsoleErrors(/ERR_|Failed to load/);
  for (const isCarriedOut of [true, false]) {
    const repository = new Repository(`killed-${isCarriedOut}`);
    repository.change();
    const page = await openPanel(repository);
    await open(page, "kept.txt");
    const problem = page.locator(".changes-panel > .field-problem");
    const die = async (route) => {
      if (isCarriedOut) await route.fetch();
      await deck.server.kill();
      await route.abort("connectionreset");
    };
    await page.route(/\/changes\/revert$/, die, { times: 1 });
    await row(page, "kept.txt").getByRole("button", { name: "Revert file" }).click();
    await dialog(page).getByRole("button", { name: "Revert file" }).click();
    await waitForText(problem, "kept.txt may or may not have been reverted: The server did not respond. The list is reloaded when the connection is back.");
    await waitForText(page.locator('[data-banner="connection"]'), /did not respond/);
    await deck.server.startAgain();
    await reconnect(page);
    await problem.waitFor({ state: "hidden" });
    await row(page, "kept.txt").waitFor({ state: isCarriedOut ? "detached" : "visible" });
    assert.equal(await page.getByRole("button", { name: "Undo the revert of kept.txt" }).count(), isCarriedOut ? 1 : 0);
    assert.equal(repository.read("kept.txt"), isCarriedOut ? "one\nthe second line\nthree\n" : "one\nthe other line\nthree\n");
    await page.close();
  }
});

test("another session in the same folder is named", async () => {
  const repository = new Repository("shared");
  const other = await deck.server.session({ workingDirectory: repository.folder, title: "The other one" });
  const page = await openPanel(repository);
  await beginTurn(page);
  await page.getByRole("button", { name: "Session", exact: true }).click();
  await waitForText(page.locator(".changes-message"), /No changes/);
  await deck.server.turn(other, "hello");
  repository.write("kept.txt", "whose?\n");
  await page.getByRole("button", { name: "Refresh" }).click();
  await waitForText(page.locator(".changes-shared"), /“The other one” also worked in this folder/);
});

test("the panel is accessible in light and dark, and fits a phone", async () => {
  const repository = new Repository("accessible");
  repository.change();
  for (const context of [{ ...WIDE, colorScheme: "light" }, { ...WIDE, colorScheme: "dark" }, PHONE]) {
    const page = await openPanel(repository, context);
    await page.getByRole("button", { name: "Expand all" }).click();
    await waitFor(async () => (await page.locator(".changes-file-actions").count()) === 3, "all files");
    await checkAccessibility(page, "inline", "#side-panel");
    if (context.colorScheme) {
      const sideBySide = page.getByRole("button", { name: "Side by side" });
      if ((await sideBySide.getAttribute("aria-pressed")) === "false") await sideBySide.click();
      await page.locator("table.side-by-side").first().waitFor();
      await checkAccessibility(page, "side by side", "#side-panel");
    } else {
      assert.equal(await page.locator("#side-panel").evaluate((panel) => panel.clientWidth), 390, "the whole width");
      const body = page.locator(".side-panel-body");
      assert.ok(await body.evaluate((element) => element.scrollWidth <= element.clientWidth), "nothing sticks out");
      const heights = await page.locator(".changes-panel button:visible").evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().height));
      assert.ok(heights.every((height) => height >= 40), `large enough to touch: ${heights}`);
    }
    await row(page, "kept.txt").getByRole("button", { name: "Revert file" }).click();
    await checkAccessibility(page, "dialog", "dialog[open]");
    await page.keyboard.press("Escape");
  }
});

test("the button of a hunk is in sight, however long the lines are and wherever they are scrolled to", async () => {
  const repository = new Repository("long-lines");
  const lines = Array.from({ length: 60 }, (_, index) => `function f${index}(${"argument, ".repeat(40)}) {}`);
  repository.write("wide.js", `${lines.join("\n")}\n`);
  repository.git("add", ".");
  repository.git("commit", "--quiet", "--message=wide");
  lines[5] = "function changed() {}";
  lines[45] = "function changed() {}";
  repository.write("wide.js", `${lines.join("\n")}\n`);
  for (const context of [WIDE, PHONE]) {
    const page = await openPanel(repository, context);
    await open(page, "wide.js");
    const buttons = row(page, "wide.js").getByRole("button", { name: "Revert hunk" });
    assert.equal(await buttons.count(), 2);
    const diff = row(page, "wide.js").locator(".diff");
    assert.ok(await diff.evaluate((element) => element.scrollWidth > 2 * element.clientWidth), "the lines are longer than the panel");
    for (const share of [0, 0.5, 1]) {
      await diff.evaluate((element, part) => element.scrollTo({ left: part * element.scrollWidth, behavior: "instant" }), share);
      for (const button of await buttons.all()) {
        await button.scrollIntoViewIfNeeded();
        const [one, around] = [await button.boundingBox(), await diff.boundingBox()];
        assert.ok(one.x >= around.x && one.x + one.width <= around.x + around.width, `scrolled by ${share}: ${JSON.stringify({ one, around })}`);
        assert.ok(await button.evaluate((element) => {
          const { left, top, width, height } = element.getBoundingClientRect();
          return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
        }), "nothing lies over it");
      }
    }
    await buttons.last().click();
    await dialog(page).waitFor();
    await page.keyboard.press("Escape");
  }
});

test("a long path is shown whole, and copying the patch moves nothing", async () => {
  const repository = new Repository("deep");
  const name = `src/${"a-rather-long-folder/".repeat(6)}the-file-itself.txt`;
  repository.write(name, "x\n");
  for (const context of [WIDE, PHONE]) {
    const page = await openPanel(repository, { ...context, permissions: ["clipboard-read", "clipboard-write"] });
    const path = page.locator(".changes-path");
    await path.waitFor();
    const { shown, cut } = await path.evaluate((element) => ({ shown: element.innerText, cut: element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1 }));
    assert.deepEqual({ shown, cut }, { shown: name, cut: false });
    const before = await path.boundingBox();
    const copy = page.getByRole("button", { name: "Copy patch" }).first();
    await copy.click();
    await page.locator(".changes-actions .copied").waitFor();
    assert.deepEqual(await path.boundingBox(), before);
    await page.close();
  }
});

test("spaces around a file's name are seen", async () => {
  const repository = new Repository("spaces");
  const odd = ["  before.txt", "after.txt  ", "in  between.txt"];
  for (const name of odd) repository.write(name, "x\n");
  const page = await openPanel(repository, WIDE);
  await waitFor(async () => (await names(page)).length === odd.length, "the files");
  const shown = await page.locator(".changes-path").evaluateAll((all) => all.map((element) => element.innerText));
  assert.deepEqual(shown.toSorted(), odd.toSorted());
});
