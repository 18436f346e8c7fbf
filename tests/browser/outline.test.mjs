// Getting around in a session: the outline, editing a prompt, forking from a turn, and few requests for many blocks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, checkAccessibility, openSession, turn, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";
import { foundBlock, noteFound } from "./support/foundBlock.mjs";

const deck = useDeck();

test("the outline has every prompt, also those that are not loaded, and goes to any of them", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "\n <b>first</b> of all\nand more");
  await deck.server.turn(id, "error no disk");
  await deck.server.turn(id, "blocks 2000");
  await deck.server.turn(id, "hello");
  const page = await openSession(deck, id);
  await waitForText(blocks(page, "User").last(), /hello/);
  assert.equal(await blocks(page, "User").filter({ hasText: "first" }).count(), 0, "not loaded yet");
  await page.keyboard.press("Alt+o");
  const prompts = page.locator(".outline-prompt");
  await waitFor(async () => (await prompts.count()) === 4, "four prompts");
  assert.deepEqual(await prompts.locator(".outline-line").allTextContents(), ["<b>first</b> of all", "error no disk", "blocks 2000", "hello"]);
  await waitForText(prompts.nth(1).locator(".outline-facts"), /^failed · /);
  assert.equal(await prompts.nth(3).getAttribute("aria-current"), "true", "where the reader is");
  await checkAccessibility(page, "the outline");
  await noteFound(page);
  await prompts.first().click();
  await foundBlock(page, "first");
  assert.equal(await prompts.first().getAttribute("aria-current"), "true");
  await page.locator(".outline-beginning").click();
  await waitFor(() => page.locator("#session-part").evaluate((element) => element.scrollTop < 5), "the beginning");
  await page.keyboard.press("Alt+o");
  assert.ok(await page.locator("#side-panel").isHidden());
});

/** Lets the page load nothing further back until `end()`. */
async function refuseOlder(page) {
  deck.expectConsoleErrors(/503/);
  const pattern = /\/log\?.*limit=(400|1000)/;
  const refuse = (route) => route.fulfill({ status: 503, json: { error: "Busy", message: "The disk is slow." } });
  await page.route(pattern, refuse);
  return { end: () => page.unroute(pattern, refuse) };
}

// The first is so far back that what is in between is left out, the second is not.
for (const count of [2000, 300]) {
  test(`a jump over ${count} blocks that fails is said above the session, and can be retried`, async () => {
    const id = await deck.server.session();
    await deck.server.turn(id, "hello at first");
    await deck.server.turn(id, `blocks ${count}`);
    const page = await openSession(deck, id);
    await waitForText(blocks(page).last(), /all the demo's blocks/);
    const refusal = await refuseOlder(page);
    await page.keyboard.press("Alt+o");
    await page.locator(".outline-prompt").first().click();
    const banner = page.locator('[data-banner="jump"]');
    await waitForText(banner.locator(".banner-text"), "Could not load this part of the session: The disk is slow.");
    assert.equal(await banner.getAttribute("role"), "alert");
    await page.keyboard.press("Alt+Home");
    await waitForText(banner.locator(".banner-text"), "Could not load the beginning of the session: The disk is slow.");
    await refusal.end();
    await banner.getByRole("button", { name: "Retry" }).click();
    await waitFor(() => page.locator("#session-part").evaluate((part) => part.scrollTop < 5 && part.textContent.includes("hello at first")), "the beginning");
    assert.equal(await banner.count(), 0);
    await noteFound(page);
    await page.locator(".outline-prompt").first().click();
    await foundBlock(page, "hello at first");
  });
}

test("a link to an event that cannot be loaded says so, and the session is there", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello at first");
  await deck.server.turn(id, "blocks 2000");
  const page = await deck.openPage("/");
  const refusal = await refuseOlder(page);
  await page.goto(`${deck.server.url}/?session=${id}&event=1`);
  const banner = page.locator('[data-banner="jump"]');
  await waitForText(banner.locator(".banner-text"), "Could not load this part of the session: The disk is slow.");
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  assert.equal(await page.locator('[data-banner="connection"]').count(), 0);
  await refusal.end();
  await banner.getByRole("button", { name: "Retry" }).click();
  await banner.waitFor({ state: "detached" });
  await waitForText(blocks(page, "User").first(), /hello at first/);
});

test("many prompts can be filtered, and what the server cannot say is said", async () => {
  const id = await deck.server.session();
  for (let number = 0; number < 9; number += 1) await deck.server.turn(id, `topic ${number}`);
  const page = await openSession(deck, id);
  deck.expectConsoleErrors(/500/);
  await page.route(/\/outline$/, (route) => route.fulfill({ status: 500, json: { error: "InternalError", message: "No disk." } }), { times: 1 });
  await page.locator("#outline-button").click();
  await waitForText(page.locator("#side-panel [role=status]"), /Could not load the outline: No disk\./);
  await page.locator("#side-panel [role=status] button").click();
  await page.locator(".outline-filter").fill("PIC 7");
  await waitFor(async () => (await page.locator(".outline-prompt:visible").count()) === 1, "one prompt");
  await waitForText(page.locator(".outline-prompt:visible .outline-line"), "topic 7");
});

test("a prompt is edited and sent again, and a draft can be brought back", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello\nwith **more**");
  const page = await openSession(deck, id);
  const textarea = page.locator("#request-textarea");
  await textarea.fill("my draft");
  await blocks(page, "User").hover();
  await blocks(page, "User").locator(".message-block-edit").click();
  assert.equal(await textarea.inputValue(), "hello\nwith **more**");
  assert.ok(await textarea.evaluate((element) => element === document.activeElement));
  await page.keyboard.press("Control+z");
  assert.equal(await textarea.inputValue(), "my draft");
  await blocks(page, "User").focus();
  await page.keyboard.press("e");
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" now");
  await page.keyboard.press("Control+Enter");
  await waitFor(async () => (await page.locator(".turn-end").count()) === 2, "the second turn");
  assert.equal(await blocks(page, "User").last().locator(".message-block-body").textContent(), "hello\nwith **more** now");
});

test("a session is forked from a turn, and both go on by themselves", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  await deck.server.turn(id, "reason");
  const page = await openSession(deck, id);
  await page.locator(".can-fork").waitFor();
  await page.locator(".turn-end").first().hover();
  await page.locator(".fork-button").first().click();
  await page.waitForFunction((source) => new URLSearchParams(location.search).get("session") !== source, id);
  await waitForText(page.locator('.session-notice[data-kind="forked"]'), new RegExp(`^Forked from ${id}\\. `));
  assert.deepEqual(await blocks(page, "User").locator(".message-block-body").allTextContents(), ["hello"]);
  await turn(page, "tool");
  assert.deepEqual(await blocks(page, "User").locator(".message-block-body").allTextContents(), ["hello", "tool"]);
  assert.equal((await deck.server.log(id)).filter(({ response }) => response.callback === "onUserPrompt").length, 2, "the source is as it was");
});

test("an agent that cannot fork has no button, and a failed fork says why", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const context = await deck.openContext();
  let fork = false;
  await context.route(/\/api\/runtimes$/, async (route) => {
    const answer = await (await route.fetch()).json();
    for (const runtime of answer.runtimes) runtime.capabilities.fork = fork;
    return route.fulfill({ json: answer });
  });
  const page = await context.newPage();
  const open = async () => {
    const asked = page.waitForResponse(/\/api\/runtimes$/);
    await page.goto(`${deck.server.url}/?session=${id}`);
    await page.locator(".turn-end").waitFor();
    await (await asked).finished();
  };
  await open();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  assert.ok(await page.locator(".fork-button").isHidden());
  fork = true;
  await open();
  deck.expectConsoleErrors(/502/);
  await page.route(/\/fork$/, (route) => route.fulfill({ status: 502, json: { error: "AgentNotAvailable", message: "demo could not copy its session: no disk." } }));
  await page.locator(".can-fork .turn-end").hover();
  await page.locator(".fork-button").click();
  await waitForText(page.locator("#request-problem"), "Could not fork the session: demo could not copy its session: no disk.");
});

test("blocks near the view come in few requests, and what was there is not asked for again", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "blocks 1200");
  const context = await deck.openContext();
  const page = await context.newPage();
  const calls = watchCalls(page, /\/blocks?(\/|$)/);
  await page.goto(`${deck.server.url}/?session=${id}`);
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  const part = page.locator("#session-part");
  const rendered = () => part.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return [...element.querySelectorAll('[data-type="Message"]')].every((one) => one.getBoundingClientRect().bottom < top || one.getBoundingClientRect().top > bottom || one.querySelector(".rendered-content"));
  });
  for (let step = 0; step < 12; step += 1) {
    await part.evaluate((element) => (element.scrollTop -= 600));
    await waitFor(rendered, "everything in view");
  }
  const shown = await page.locator('[data-type="Message"] .rendered-content').count();
  assert.ok(shown > 40, `${shown} rendered messages`);
  assert.ok(calls.all.length * 3 < shown, `${calls.all.length} requests for ${shown} messages:\n${calls.all.join("\n")}`);
});

test("one block that cannot be rendered does not keep the others from being shown", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "blocks 40");
  const context = await deck.openContext();
  await context.route(/\/blocks\?/, async (route) => {
    const answer = await (await route.fetch()).json();
    answer.blocks[0].html = null;
    return route.fulfill({ json: answer });
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator('[data-type="Message"] .rendered-content').first().waitFor();
  await page.locator('[data-type="Message"] .message-block-raw', { hasText: "Markdown" }).first().waitFor({ state: "attached" });
});
