// For everybody: screen readers, keyboards, high contrast, little motion, small screens.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { blocks, checkAccessibility as check, choose, LogStub, openSession, openSetup, send, shown, turn, useDeck, waitFor } from "./support/index.mjs";

const deck = useDeck();

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious: set-up, ${colorScheme}`, async () => {
    const id = await deck.server.session({ title: "Waiting" });
    await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
    const closed = await deck.server.session({ title: "Closed" });
    await deck.server.call("POST", `copilot/session/${closed}/stop`);
    const page = await openSetup(deck, "/", { colorScheme });
    await page.locator(".session-row").nth(1).waitFor();
    await check(page, "set-up");
    await page.locator("#more-options-button").click();
    await page.locator("#agents > summary").click();
    await page.locator("#runtime-select").selectOption("copilot");
    await page.locator("#connection-select").selectOption("copilot-headless");
    await check(page, "the options of an agent that is not ready");
    await page.locator("#runtime-select").selectOption("demo");
    await page.locator("#more-options-button").click();
    await page.locator("#working-dir").fill("nowhere");
    await page.locator("#start-button").click();
    await page.locator("#working-dir-problem").waitFor();
    await check(page, "a wrong folder");
    await page.locator("#inbox-button").click();
    await page.locator(".inbox-entry").first().waitFor();
    await check(page, "the inbox");
    await page.locator("#more-button").click();
    await check(page, "the menu");
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await page.locator(".key-list").first().waitFor();
    await check(page, "the keys");
    await page.locator(".session-row").getByRole("button", { name: "Delete" }).first().click();
    await check(page, "a dialog");
  });

  test(`axe finds nothing serious: session and permission, ${colorScheme}`, async () => {
    const id = await deck.server.session();
    for (const prompt of ["markdown", "colours", "edit", "error no disk", "tool 100000", "reason"]) await deck.server.turn(id, prompt);
    const page = await openSession(deck, id, { colorScheme });
    await waitFor(async () => (await blocks(page, "Tool").count()) === 3, "the blocks");
    for (const toggle of await page.locator('.message-block[data-type="Tool"] .message-block-toggle, .message-block[data-type="Reasoning"] .message-block-toggle').all()) await toggle.click();
    await waitFor(async () => (await page.locator(".diff-added").count()) === 1 && (await page.locator(".terminal").count()) >= 2, "what they hold");
    for (const top of [0, 700, 1400]) {
      await page.locator("#session-part").evaluate((part, top) => part.scrollTo({ top }), top);
      await check(page, `a session at ${top}`);
    }
    await page.locator("#details-button").click();
    await page.locator("#details-model").waitFor();
    await check(page, "details");
    await send(page, "permission");
    await page.locator(".request-choice").first().waitFor();
    await page.locator("#to-end-button").click().catch(() => {});
    await check(page, "a permission");
    await choose(page, 1);
    await page.locator(".request-block.answered").waitFor();
    await waitFor(() => page.locator("#send-button").isEnabled(), "the end of the turn");
    await send(page, "question");
    await page.locator(".request-free input").waitFor();
    await check(page, "a question");
    await page.locator("#close-session-button").click();
    await page.locator("dialog").waitFor();
    await check(page, "the question before a session is closed");
    await page.locator("dialog").getByRole("button", { name: "Close the session" }).click();
    await page.locator("#reopen-button").waitFor();
    await check(page, "a closed session");
  });
}

const prompt = (number) => ({ callback: "onUserPrompt", promptId: `prompt-${number}`, text: "go", queued: false });
const permission = (more) => ({ callback: "onPermissionRequested", requestId: "request-9", kind: "shell", title: "Run a command", detail: "ls \u202Ex", options: ["allow-once", "allow-always", "deny"], ...more });
const end = [{ callback: "onAgentEnd", turnId: "t" }, { callback: "onIdle" }];
const notice = (kind) => ({ callback: "onNotice", kind, message: "Something happened.", detail: "Error: it did" });
const SCENES = {
  "a request with marks": [prompt(2), permission({ title: "Run \u200Ba command", detail: `ls \u202Ex${"\n".repeat(99)}rm` })],
  "a long request": [prompt(2), permission({ title: "a word ".repeat(99), detail: "echo\n".repeat(99) })],
  "a diff": [prompt(2), permission({ kind: "write", detail: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\u00A0\n" })],
  "a kept request": [prompt(2), permission(), notice("request-kept"), ...end],
  "what was lost": [notice("fresh-session"), prompt(2), notice("retrying"), permission(), { callback: "onPermissionAnswered", requestId: "request-9", decision: "agent-gone", by: "restart" }, notice("interrupted"), ...end, prompt(3), { sessionError: "no", raw: "Error" }, ...end],
};

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious: requests and losses, ${colorScheme}`, async () => {
    for (const [what, responses] of Object.entries(SCENES)) {
      const id = await deck.server.session();
      const context = await deck.openContext({ colorScheme });
      await LogStub.use({ deck, context, id, responses });
      const page = await context.newPage();
      await page.goto(`${deck.server.url}/?session=${id}`);
      await shown(page);
      await page.locator(".request-block").waitFor();
      await page.locator(".request-block:not(:has([aria-disabled]))").waitFor();
      for (const details of await page.locator("#session-ui summary").all()) await details.click();
      await check(page, what);
      await page.keyboard.press("Alt+a");
      await check(page, `${what}, with keys`);
    }
  });
}

/** Ids (or classes) of what Tab reaches, from the top of the page. */
async function tabOrder(page, steps) {
  await page.evaluate(() => {
    document.activeElement.blur();
    window.scrollTo(0, 0);
  });
  const order = [];
  for (let step = 0; step < steps; step += 1) {
    await page.keyboard.press("Tab");
    order.push(await page.evaluate(() => document.activeElement.id || document.activeElement.className));
  }
  return order;
}

test("the button of the folder is called what it shows, long or short", async () => {
  const folder = path.join(deck.server.workFolder, "a-folder-with-a-rather-long-name", "and-another-one-below-it", "project");
  await mkdir(folder, { recursive: true });
  const page = await openSession(deck, await deck.server.session({ workingDirectory: folder }));
  const button = page.locator(".fact-folder");
  for (const [width, part] of [[1600, ".path"], [1000, ".path-short"]]) {
    await page.setViewportSize({ width, height: 800 });
    await check(page, `the header at ${width}`, "#top-bar");
    const shows = await button.locator(part).textContent();
    assert.notEqual(shows, folder, "it is shortened");
    assert.equal(await page.getByRole("button", { name: `${shows} (copy the path)` }).count(), 1);
  }
  assert.equal(await button.getAttribute("title"), `Copy ${folder}`);
});

test("the keyboard goes through the set-up in reading order, and always shows where it is", async () => {
  const page = await openSetup(deck);
  const order = await tabOrder(page, 13);
  // Between the form and its buttons is the line that says what is missing, with its button.
  const parts = ["sidebar-button", "inbox-button", "more-button", "prompt-box", "working-dir", "browse-button", "runtime-select", "model-select", "", "jobs-button", "refresh-button", "more-options-button", "start-button"];
  assert.deepEqual(order, parts);
  await page.locator("#start-button").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Shift+Tab");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid");
});

test("the transcript is read with keys alone", async () => {
  const page = await openSession(deck, await deck.server.session());
  await turn(page, "reason");
  await page.keyboard.press("Alt+t");
  assert.equal(await page.evaluate(() => document.activeElement.id), "session-part");
  const focused = () => page.evaluate(() => document.activeElement.querySelector(".message-block-header-text")?.textContent);
  await page.keyboard.press("k");
  assert.equal(await focused(), "Message");
  await page.keyboard.press("k");
  assert.equal(await focused(), "Reasoning");
  const body = blocks(page, "Reasoning").locator(".message-block-body");
  assert.ok(await body.isHidden());
  await page.keyboard.press("o");
  assert.ok(await body.isVisible());
  await page.keyboard.press("j");
  assert.equal(await focused(), "Message");
  await page.keyboard.press("Alt+t");
  assert.equal(await page.evaluate(() => document.activeElement.id), "request-textarea");
  await page.keyboard.press("Alt+t");
  await page.keyboard.press("?");
  await page.locator("#side-panel", { hasText: "Ctrl+Shift+Enter" }).waitFor();
});

test("what happens is said to screen readers", async () => {
  const page = await openSession(deck, await deck.server.session());
  const status = page.locator("body > [role=status]");
  await send(page, "permission");
  await waitFor(async () => /Permission needed/.test(await status.textContent().catch(() => "")), "the announcement");
  await choose(page, 1);
  await waitFor(async () => /The agent finished/.test(await status.textContent()), "the end");
  assert.equal(await blocks(page, "Tool").getAttribute("role"), "article");
  assert.equal(await blocks(page, "Tool").locator(".message-block-toggle").getAttribute("aria-expanded"), "false");
});

test("with reduced motion nothing moves", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id, { reducedMotion: "reduce" });
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((element) => getComputedStyle(element).animationName !== "none" || parseFloat(getComputedStyle(element).transitionDuration) > 0).length);
  assert.equal(moving, 0);
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
});

test("forced colours and more contrast keep what matters visible", async () => {
  const id = await deck.server.session();
  await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  const forced = await openSession(deck, id, { forcedColors: "active" });
  await forced.locator(".request-choice").first().waitFor();
  const border = await forced.locator(".request-block").evaluate((element) => getComputedStyle(element).borderTopWidth);
  assert.equal(border, "2px");
  const mark = await forced.locator("#session-state .state-mark").evaluate((element) => getComputedStyle(element).backgroundColor);
  assert.notEqual(mark, "rgba(0, 0, 0, 0)");
  const contrast = await openSession(deck, id, { contrast: "more" });
  await contrast.locator(".request-choice").first().waitFor();
  const quiet = await contrast.evaluate(() => getComputedStyle(document.querySelector(".request-place")).color);
  assert.equal(quiet, "rgb(51, 57, 63)");
  await check(contrast, "more contrast");
});

test("360 pixels are enough: nothing is wider, and everything can be reached", async () => {
  const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
  const assertFits = async (page, what) => {
    const wide = await page.evaluate(() => ({
      page: document.documentElement.scrollWidth,
      parts: [...document.querySelectorAll("#session-part, #setup-ui, #request-part, #side-panel, .side-panel-body, dialog")].filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.id || part.className),
      outside: [...document.querySelectorAll("button, select, input, textarea, a")].filter((one) => one.offsetParent && (one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1) && !one.closest("pre, .diff, table")).map((one) => one.id || one.className),
    }));
    assert.deepEqual(wide, { page: 360, parts: [], outside: [] }, what);
  };
  const longName = "a-very-long-name-without-any-break-".repeat(5);
  const id = await deck.server.session({ title: longName });
  for (const prompt of ["markdown", "colours", "edit", longName]) await deck.server.turn(id, prompt);
  const setup = await openSetup(deck, "/", phone);
  await setup.locator(`.session-row[data-session="${id}"]`).waitFor();
  await assertFits(setup, "set-up");
  await setup.locator("#inbox-button").click();
  await setup.locator(".inbox-entry").first().waitFor();
  await assertFits(setup, "inbox");
  const page = await openSession(deck, id, phone);
  await waitFor(async () => (await blocks(page, "Tool").count()) === 2, "the blocks");
  for (const toggle of await page.locator('[data-type="Tool"] .message-block-toggle').all()) await toggle.click();
  await page.locator(".diff-added").waitFor();
  await assertFits(page, "session");
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  await assertFits(page, "permission");
  for (const name of ["interrupt", "queue", "steer", "send", "close-session", "stop-server", "attach"]) {
    const box = await page.locator(`#${name}-button`).boundingBox();
    assert.ok(box && box.y + box.height <= 740 && box.height >= 28, `${name}: ${JSON.stringify(box)}`);
  }
  await page.locator("#details-button").click();
  await page.locator("#details-model").waitFor();
  await assertFits(page, "details");
});
