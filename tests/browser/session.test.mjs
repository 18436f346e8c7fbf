// A session on the page: what it says, the parts of the page, and its ends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, choose, openSession, openSetup, send, shown, taken, turn, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const deck = useDeck();

test("from the set-up to an answer: blocks stream in, the prompt first", async () => {
  const page = await openSetup(deck);
  await page.locator("#working-dir").fill(deck.server.workFolder);
  await page.locator("#start-button").click();
  await shown(page);
  await page.locator(".session-empty").waitFor();
  await turn(page, "reason");
  assert.ok(await page.locator(".session-empty").isHidden());
  const headers = await page.locator(".message-block-header-text").allTextContents();
  assert.deepEqual(headers, ["User", "Reasoning", "Message"]);
  await waitForText(blocks(page, "Message"), /answer is 42/);
  await waitForText(page.locator(".turn-end"), /1 model call/);
  assert.match(await page.title(), /^reason · Flightdeck$/);
});

test("the session fills the page, with a request part of 300 pixels", async () => {
  const page = await openSession(deck, await deck.server.session());
  const boxes = await page.evaluate(() => {
    const box = (id) => document.querySelector(id).getBoundingClientRect();
    const [session, bar, request] = [box("#session-part"), box("#resize-bar"), box("#request-part")];
    const inside = (id) => box(id).bottom <= request.bottom && box(id).top > request.top + request.height / 2;
    return {
      request: request.height,
      bottom: request.bottom === innerHeight,
      order: session.bottom <= bar.top && bar.bottom <= request.top,
      width: [session.width, request.width, innerWidth],
      scrolls: document.documentElement.scrollHeight > innerHeight,
      sendRight: inside("#send-button") && box("#send-button").left > innerWidth / 2,
      closeLeft: inside("#close-session-button") && box("#close-session-button").right < innerWidth / 2,
      stopApart: box("#stop-server-button").bottom < session.top + 1 && box("#stop-server-button").left > innerWidth / 2,
    };
  });
  assert.equal(boxes.request, 300);
  assert.ok(boxes.bottom && boxes.order && boxes.sendRight && boxes.closeLeft && boxes.stopApart, JSON.stringify(boxes));
  assert.equal(new Set(boxes.width).size, 1);
  assert.ok(!boxes.scrolls);
});

test("the bar is dragged, or moved with the arrow keys", async () => {
  const page = await openSession(deck, await deck.server.session());
  const height = () => page.locator("#request-part").evaluate((part) => part.getBoundingClientRect().height);
  const bar = await page.locator("#resize-bar").boundingBox();
  await page.mouse.move(bar.x + 200, bar.y + 3);
  await page.mouse.down();
  await page.mouse.move(bar.x + 200, bar.y + 3 - 60, { steps: 3 });
  await page.mouse.up();
  assert.equal(await height(), 360);
  await page.locator("#resize-bar").focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await height(), 336);
  await page.mouse.move(bar.x + 200, (await page.locator("#resize-bar").boundingBox()).y + 3);
  await page.mouse.down();
  await page.mouse.move(bar.x + 200, 5, { steps: 3 });
  await page.mouse.up();
  const session = await page.locator("#session-part").evaluate((part) => part.getBoundingClientRect().height);
  assert.ok(session >= 100, `something of the session stays: ${session}`);
});

test("Send and Ctrl+Enter send, and both do nothing while the agent works", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await page.locator("#request-textarea").fill("first\nsecond line");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#request-textarea").inputValue(), "first\nsecond line\n");
  await page.locator("#request-textarea").fill("permission");
  await page.locator("#send-button").click();
  await page.locator(".request-choice").first().waitFor();
  assert.ok(await page.locator("#send-button").isDisabled());
  await taken(page);
  await send(page, "not now");
  assert.equal(await page.locator("#request-textarea").inputValue(), "not now");
  await choose(page, 3);
  await waitFor(() => page.locator("#send-button").isEnabled(), "the send button");
  await page.locator("#request-textarea").press("Control+Enter");
  await waitFor(async () => (await page.locator(".turn-end").count()) === 2, "the second turn");
  const prompts = (await deck.server.log(id)).filter(({ response }) => response.callback === "onUserPrompt").map(({ response }) => response.text);
  assert.deepEqual(prompts, ["permission", "not now"]);
});

test("the state, the title and the folder stand above the session", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await waitForText(page.locator("#session-title"), id);
  await turn(page, "hello there");
  await waitForText(page.locator("#session-title"), "hello there");
  await waitForText(page.locator("#session-state"), "Ready");
  await send(page, "permission");
  await waitForText(page.locator("#session-state"), "Needs your input");
  assert.match(await page.locator("#session-facts").textContent(), /demo/);
  assert.match(await page.locator(".fact-folder").getAttribute("title"), new RegExp(deck.server.workFolder));
  await page.locator("#session-title").click();
  await page.locator("dialog input").fill("A better name");
  await page.keyboard.press("Enter");
  await waitForText(page.locator("#session-title"), "A better name");
  assert.match(await page.title(), /A better name/);
});

test("a failed turn says why, and the session goes on", async () => {
  const page = await openSession(deck, await deck.server.session());
  await turn(page, "error no <b>disk</b>");
  await waitForText(page.locator(".session-error"), /demo error: no <b>disk<\/b>/);
  await turn(page, "hello");
  await waitForText(blocks(page, "Message").last(), /Hello from the demo/);
});

test("a lost agent is said, and it comes back for the next request", async () => {
  const page = await openSession(deck, await deck.server.session());
  await send(page, "crash");
  await waitForText(page.locator(".session-error"), /crashed/);
  await waitFor(() => page.locator("#send-button").isEnabled(), "the send button");
  await turn(page, "hello");
  await page.locator('[data-banner="state"]').waitFor({ state: "detached" });
});

test("Close Session ends it, polling stops, and Reopen goes on", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "hello");
  await page.locator("#close-session-button").click();
  await waitForText(page.locator("#closed-part p"), /closed.*can close this page/);
  assert.equal((await deck.server.call("GET", `copilot/session/${id}`)).state, "closed");
  assert.ok(await page.locator("#request-part").isHidden());
  let polls = 0;
  page.on("request", (request) => {
    if (request.url().includes("/live/")) polls += 1;
  });
  await page.locator("#details-button").click();
  await page.locator(".details-facts").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(polls, 0);
  await page.locator("#reopen-button").click();
  await page.locator("#request-textarea").waitFor();
  await turn(page, "hello again");
  assert.equal(await blocks(page, "User").count(), 2);
});

test("the button and the news of a session that is reopened go on together once", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "hello");
  await page.locator("#close-session-button").click();
  await page.locator("#reopen-button").waitFor();
  // What the button asks for is held until the news has come, too.
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await page.route(new RegExp(`/session/${id}$`), (route) => held.then(() => route.continue()));
  const tokens = watchCalls(page, /\/api\/token$/);
  await page.locator("#reopen-button").click();
  await waitForText(page.locator("#session-state .state-word"), "Ready");
  release();
  await page.locator("#request-textarea").waitFor();
  await turn(page, "hello again");
  assert.equal(tokens.all.length, 1, "one reader");
  assert.equal(await page.locator(".turn-end").count(), 2);
});

test("a session that was closed long ago shows its history and can be reopened", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  await deck.server.call("POST", `copilot/session/${id}/stop`);
  const page = await openSession(deck, id);
  await waitForText(blocks(page, "Message"), /Hello from the demo/);
  await page.locator("#reopen-button").waitFor();
  // Somebody else reopens it: this page goes on too.
  await deck.server.call("POST", `copilot/session/${id}/reopen`);
  await page.locator("#request-textarea").waitFor();
  await deck.server.turn(id, "reason");
  await blocks(page, "Reasoning").waitFor();
});

test("details: the permission mode and the model are changed here, usage and context are shown", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await page.keyboard.press("Alt+s");
  await page.locator("#details-mode").selectOption("allow-all");
  await page.locator("dialog[open] .danger").click();
  await waitFor(async () => (await deck.server.call("GET", `copilot/session/${id}`)).permissionMode === "allow-all", "the mode");
  await page.locator("#details-model").selectOption("demo-slow");
  await waitFor(async () => (await deck.server.call("GET", `copilot/session/${id}`)).model === "demo-slow", "the model");
  await waitForText(page.locator(".fact-model"), "demo-slow");
  await turn(page, "reason");
  await waitForText(page.locator(".details-facts"), /1 model call/);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Alt+s");
  await page.locator("#side-panel").waitFor({ state: "hidden" });
});

test("closing a session at work asks first, and then shows how everything ended", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await send(page, "permission");
  await page.locator(".request-block.waiting").waitFor();
  await send(page, "never sent", "Alt+Enter");
  await waitForText(blocks(page, "User").last().locator(".message-block-header-text"), "User (queued)");
  await page.locator("#close-session-button").click();
  await waitForText(page.locator("dialog p"), "What waits for your answer will be cancelled. 1 queued prompt will not be sent. Its history is kept.");
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.ok(await page.locator(".request-block.waiting").isVisible(), "Enter keeps it open");
  await page.locator("#close-session-button").click();
  await page.locator("dialog").getByRole("button", { name: "Close the session" }).click();
  await page.locator("#reopen-button").waitFor();
  assert.equal(await page.locator(".request-block.waiting").count(), 0);
  assert.ok(await page.locator(".session-response-awaiting").isHidden());
  assert.match(await blocks(page, "User").last().textContent(), /cancelled/);
  await page.getByText("A queued prompt was not sent because the session was closed.").waitFor();
  await waitFor(async () => !(await deck.server.call("GET", `copilot/session/${id}`)).unread, "the end to count as seen by who closed it");
});
