// Where the reader is: following the end, reading a finished answer from its beginning, or somewhere else undisturbed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStub, blocks, openSession, rendered, shown, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const part = (page) => page.locator("#session-part");
const gapToEnd = (page) => part(page).evaluate((element) => Math.round(element.scrollHeight - element.scrollTop - element.clientHeight));
const LONG = Array.from({ length: 120 }, (_, index) => `Paragraph ${index} of a long answer.`).join("\n\n");

/** How far the top of an element is below the top of the transcript. */
const topOf = (locator) => locator.evaluate((element) => Math.round(element.getBoundingClientRect().top - document.querySelector("#session-part").getBoundingClientRect().top));

/** A session with some history whose next events a test adds. */
async function watched(context = {}) {
  const id = await deck.server.session();
  await deck.server.turn(id, "blocks 40");
  const opened = await deck.openContext(context);
  const log = await LogStub.use({ deck, context: opened, id });
  // The events that a test makes up are not in the server's log, which renders them.
  await opened.route(/\/blocks?[/?]/, async (route) => {
    const made = log.events.filter(({ response }) => response.completeContent === LONG).map(({ seq }) => seq);
    const single = Number(/block\/(\d+)\.html/.exec(route.request().url())?.[1]);
    const html = LONG.split("\n\n").map((text) => `<p>${text}</p>`).join("");
    if (made.includes(single)) return route.fulfill({ contentType: "text/html", body: html });
    return route.fallback();
  });
  const page = await opened.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  return { id, page, log };
}

const begin = (log) => log.add({ callback: "onUserPrompt", promptId: "prompt-2", text: "write", queued: false }, { callback: "onAgentStart", turnId: "turn-2" }, { callback: "onStartMessage", messageId: "long" });
const write = (log) => log.add(...LONG.split(/(?<=\n\n)/).map((delta) => ({ callback: "onMessage", messageId: "long", delta })));
const end = (log) => log.add({ callback: "onEndMessage", messageId: "long", completeContent: LONG }, { callback: "onAgentEnd", turnId: "turn-2" }, { callback: "onIdle" });

test("a receiving block is at most 150 pixels high, and who follows sees the beginning of the finished answer", async () => {
  const { page, log } = await watched();
  begin(log);
  write(log);
  const block = blocks(page, "Message").last();
  await waitForText(block, /Paragraph 119/);
  await waitFor(async () => (await gapToEnd(page)) < 2, "the end is followed");
  assert.equal(await block.locator(".message-block-body").evaluate((body) => body.getBoundingClientRect().height), 150);
  end(log);
  await block.locator(".rendered-content").waitFor();
  await waitFor(async () => Math.abs((await topOf(block)) - 8) <= 2, "the beginning of the answer at the top");
  assert.ok((await gapToEnd(page)) > 500, "most of the answer is still below");
  await page.locator("#to-end-button").waitFor();

  // The next prompt is where the reader goes on.
  log.add({ callback: "onUserPrompt", promptId: "prompt-3", text: "next", queued: false }, { callback: "onAgentStart", turnId: "turn-3" });
  await waitFor(async () => (await gapToEnd(page)) < 2, "the end again");
});

test("an answer that fits is simply shown, and the end is followed on", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  for (const text of ["tool", "reason", "hello"]) await turn(page, text);
  await blocks(page, "Message").last().locator(".rendered-content code").waitFor();
  await waitFor(async () => (await gapToEnd(page)) < 2, "the end");
  assert.ok(await page.locator("#to-end-button").isHidden());
});

test("a finished answer moves nobody who reads elsewhere, also where the browser does not help", async () => {
  const { page, log } = await watched();
  begin(log);
  write(log);
  await waitForText(blocks(page, "Message").last(), /Paragraph 119/);
  await part(page).evaluate((element) => {
    element.style.setProperty("overflow-anchor", "none");
    element.scrollTop -= 700;
  });
  await page.locator("#to-end-button").waitFor();
  const read = blocks(page, "Tool").nth(8);
  await read.scrollIntoViewIfNeeded();
  await rendered(page);
  const before = await topOf(read);
  end(log);
  await blocks(page, "Message").last().locator(".rendered-content, .message-block-text").first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".turn-end").length === 2);
  assert.equal(await topOf(read), before);

  // Something above grows: a block that is opened by its key, out of view.
  await page.evaluate(async () => {
    const { getMessageBlock } = await import("/messageBlock.js");
    const above = [...document.querySelectorAll('[data-type="Reasoning"]')].find((one) => one.getBoundingClientRect().bottom < document.querySelector("#session-part").getBoundingClientRect().top);
    above.style.setProperty("padding-bottom", "333px");
    getMessageBlock(above).open();
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
  assert.ok(Math.abs((await topOf(read)) - before) <= 1, `${before} → ${await topOf(read)}`);
});

test("with full height while streaming, blocks grow and the end is followed", async () => {
  const { page, log } = await watched();
  await page.locator("#more-button").click();
  await page.locator("#more-menu button", { hasText: "Full height while streaming: off" }).click();
  begin(log);
  write(log);
  const block = blocks(page, "Message").last();
  await waitForText(block, /Paragraph 119/);
  await waitFor(async () => (await block.locator(".message-block-body").evaluate((body) => body.getBoundingClientRect().height)) > 1000, "its full height");
  await waitFor(async () => (await gapToEnd(page)) < 2, "the end");
  end(log);
  await block.locator(".rendered-content").waitFor();
  await waitFor(async () => (await gapToEnd(page)) < 2, "still the end");
  // Every tab of the browser has it, also after a reload.
  await page.reload();
  await shown(page);
  assert.ok(await page.evaluate(() => document.documentElement.classList.contains("full-height-streaming") && localStorage.getItem("flightdeck.fullHeight") === "true"));
});

test("Alt+Home goes to the beginning of a long session", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "first of all");
  await deck.server.turn(id, "blocks 3000");
  const page = await openSession(deck, id);
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  await page.keyboard.press("Alt+Home");
  await waitForText(blocks(page, "User").first(), /first of all/);
  await waitFor(() => part(page).evaluate((element) => element.scrollTop < 5), "the top");
  await waitForText(page.locator(".history-top"), /Start of the session/);
});
