// Completion in the request: files after "@", commands and templates after "/".

import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { blocks, checkAccessibility, openSession, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();
const textarea = (page) => page.locator("#request-textarea");
const options = (page) => page.locator("#completion-list .completion");
const selected = (page) => page.locator('#completion-list [aria-selected="true"]');

/** A session in a folder of its own with these files, its page with completion ready. */
async function inFolder(name, files) {
  const folder = path.join(deck.server.workFolder, name);
  for (const file of files) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), "");
  }
  const id = await deck.server.session({ workingDirectory: folder });
  const page = await openSession(deck, id);
  await page.locator("#composer-mode").waitFor();
  return { folder, id, page };
}

test("“@” completes files by keyboard, with the focus in the text", async () => {
  const { page } = await inFolder("mentions", ["src/main.rs", "src/domain.rs", "my notes.md", "<img src=x onerror=alert(1)>.txt", "README.md"]);
  await textarea(page).pressSequentially("look at @main");
  await options(page).first().waitFor();
  await waitFor(async () => (await options(page).count()) === 2, "two files");
  assert.equal(await selected(page).locator(".completion-name").textContent(), "main.rs");
  const active = await textarea(page).getAttribute("aria-activedescendant");
  assert.equal(active, await selected(page).getAttribute("id"));
  assert.equal(await textarea(page).getAttribute("aria-controls"), "completion-options");
  await checkAccessibility(page, "completion");
  await page.keyboard.press("ArrowDown");
  assert.equal(await selected(page).locator(".completion-name").textContent(), "domain.rs");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await textarea(page).inputValue(), "look at @src/main.rs ");
  assert.ok(await page.locator("#completion-list").isHidden());
  await page.keyboard.type("and @notes");
  await waitFor(async () => (await options(page).count()) === 1, "the file with a space");
  await page.keyboard.press("Tab");
  assert.equal(await textarea(page).inputValue(), 'look at @src/main.rs and @"my notes.md" ');
  await page.keyboard.type("@onerror");
  await waitFor(async () => (await options(page).count()) === 1, "the file with markup in its name");
  assert.equal(await options(page).locator(".completion-name").textContent(), "<img src=x onerror=alert(1)>.txt");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#completion-list").isHidden());
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace");
  await waitFor(async () => (await options(page).count()) === 1, "an edit opens it again");
  assert.ok(await textarea(page).evaluate((element) => element === document.activeElement));
});

test("a click inserts a file, and a mail address opens nothing", async () => {
  const { page } = await inFolder("clicks", ["a.txt", "b.txt"]);
  await textarea(page).pressSequentially("me@a");
  await page.keyboard.type(" @");
  await waitFor(async () => (await options(page).count()) === 2, "all files");
  await options(page).nth(1).click();
  assert.equal(await textarea(page).inputValue(), "me@a @b.txt ");
  assert.ok(await textarea(page).evaluate((element) => element === document.activeElement));
});

test("Enter, Ctrl+Enter and the arrow keys are the text's own when nothing is offered", async () => {
  const { page } = await inFolder("nothing", ["a.txt"]);
  await textarea(page).pressSequentially("hello @zzz");
  await waitForText(page.locator(".completion-note"), "No file matches zzz.");
  await page.keyboard.press("Enter");
  assert.equal(await textarea(page).inputValue(), "hello @zzz\n");
  await textarea(page).fill("hello @a");
  await options(page).first().waitFor();
  await page.keyboard.press("Control+Enter");
  await page.locator(".turn-end").waitFor();
  await waitForText(blocks(page, "User"), /hello @a$/);
});

test("a folder that was deleted is said, and the request still works", async () => {
  const { page, folder } = await inFolder("deleted", ["a.txt"]);
  await rm(folder, { recursive: true });
  await textarea(page).pressSequentially("@a");
  await waitForText(page.locator(".completion-note"), /deleted/);
  await turn(page, "hello");
});

test("“/” offers the agent's commands, only at the beginning", async () => {
  const { page } = await inFolder("commands", ["a.txt"]);
  await textarea(page).pressSequentially("/ma");
  const names = () => options(page).locator(".completion-name").allTextContents();
  await waitFor(async () => (await names())[0]?.startsWith("/ma"), "the commands that begin so");
  assert.deepEqual((await names()).slice(0, 2), ["/many N [RATE] [SIZE]", "/markdown"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await textarea(page).inputValue(), "/markdown ");
  await textarea(page).fill("");
  await page.keyboard.type("either /or");
  assert.ok(await page.locator("#completion-list").isHidden());
});

test("a template is saved, found, filled in, sent by its name, edited and deleted", async () => {
  const { page, id } = await inFolder("templates", ["a.txt"]);
  await textarea(page).fill("hello {{input}}, and <b>nothing</b> else");
  await page.locator("#composer-more-button").click();
  await page.getByRole("button", { name: "Save as template" }).click();
  await page.getByLabel("Name, typed as /name").fill("../evil");
  await page.getByRole("button", { name: "Save" }).click();
  assert.ok(await page.locator("dialog").isVisible(), "a name is no path");
  await page.getByLabel("Name, typed as /name").fill("greet");
  await page.getByLabel("Description").fill("Greets <i>somebody</i>");
  await checkAccessibility(page, "a template");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  await textarea(page).fill("");
  await page.keyboard.type("/gre");
  await waitForText(selected(page), /\/greet.*Greets <i>somebody<\/i>.*template/);
  await page.keyboard.press("Enter");
  assert.equal(await textarea(page).inputValue(), "hello {{input}}, and <b>nothing</b> else");
  await page.keyboard.type("you");
  assert.equal(await textarea(page).inputValue(), "hello you, and <b>nothing</b> else", "typing replaces the placeholder");
  await textarea(page).fill("/greet all of you");
  await page.keyboard.press("Control+Enter");
  await page.locator(".turn-end").waitFor();
  const prompt = (await deck.server.log(id)).find(({ response }) => response.callback === "onUserPrompt").response;
  assert.equal(prompt.text, "hello all of you, and <b>nothing</b> else");
  await page.locator("#composer-more-button").click();
  await page.getByRole("button", { name: "Manage templates" }).click();
  await page.locator(".template-row").waitFor();
  await checkAccessibility(page, "the templates");
  await page.getByRole("button", { name: "Edit greet" }).click();
  await page.getByLabel("Name, typed as /name").fill("welcome");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator('.template-row[data-template="welcome"]').waitFor();
  assert.equal(await page.locator(".template-row").count(), 1, "renamed");
  await page.getByRole("button", { name: "Delete welcome" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No templates yet").waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  // A dialog says that it is closed in a task of its own.
  await waitFor(() => textarea(page).evaluate((element) => element === document.activeElement), "the focus in the text");
});

test("a finger chooses too", async () => {
  const { id } = await inFolder("touch", ["a.txt"]);
  const page = await openSession(deck, id, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await page.locator("#composer-mode").waitFor({ state: "attached" });
  await textarea(page).tap();
  await page.keyboard.type("@a");
  await options(page).first().waitFor();
  assert.ok((await options(page).first().boundingBox()).height >= 40);
  await options(page).first().tap();
  // A tap becomes a click after it has returned.
  await waitFor(async () => (await textarea(page).inputValue()) === "@a.txt ", "the file in the text");
});
