// Queued prompts: edited, reordered and cancelled, in one tab and in another.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, checkAccessibility, openSession, send, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();
const queued = (page) => page.locator("#composer-queue-list .queued-text").allTextContents();
const titles = (page) => blocks(page, "User").locator(".message-block-header-text").allTextContents();

/** A session whose agent waits, with these prompts in its queue. */
async function withQueue(...texts) {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  for (const text of texts) {
    await send(page, text, "Alt+Enter");
    await waitFor(async () => (await queued(page)).includes(text), text);
  }
  return { id, page };
}

const turns = async (id) => (await deck.server.log(id)).filter(({ response }) => response.callback === "onAgentStart").map(({ response }) => response.turnId);

test("queued prompts are edited, moved and cancelled, and what is left is sent in that order", async () => {
  const { id, page } = await withQueue("hello one", "hello two", "hello <b>three</b>");
  await checkAccessibility(page, "a queue");
  assert.equal(await page.locator("#composer-queue-title").textContent(), "Queued (3)");
  await page.getByRole("button", { name: "Move up “hello <b>three</b>”" }).click();
  await waitFor(async () => (await queued(page))[1] === "hello <b>three</b>", "the new order");
  assert.ok(await page.getByRole("button", { name: "Move up “hello <b>three</b>”" }).evaluate((button) => button === document.activeElement), "the focus stays on the prompt's button");
  await page.getByRole("button", { name: "Edit “hello two”" }).click();
  await page.locator("dialog textarea").fill("hello two, changed");
  await page.locator("dialog textarea").press("Control+Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.deepEqual(await queued(page), ["hello one", "hello <b>three</b>", "hello two, changed"]);
  await waitForText(blocks(page, "User").filter({ hasText: "hello two" }), /hello two, changed/);
  await page.getByRole("button", { name: "Cancel “hello one”" }).click();
  await waitFor(async () => (await queued(page)).length === 2, "the cancelled prompt is gone");
  await waitFor(async () => (await titles(page)).includes("User (cancelled)"), "the transcript says so");
  await page.locator("#interrupt-button").click();
  await waitFor(async () => (await page.locator(".turn-end").count()) === 3, "all turns");
  assert.deepEqual(await turns(id), ["turn-1", "turn-4", "turn-3"]);
  assert.ok(await page.locator("#composer-queue").isHidden());
  const shown = async () => (await blocks(page, "User").locator(".message-block-body").allTextContents()).map((text) => text.trim());
  const expected = ["permission", "hello one", "hello <b>three</b>", "hello two, changed"];
  await waitFor(async () => JSON.stringify(await shown()) === JSON.stringify(expected), "each prompt stands where its turn does");
  await page.reload();
  await waitFor(async () => JSON.stringify(await shown()) === JSON.stringify(expected), "the same after a reload");
  assert.deepEqual((await titles(page)).toSorted(), ["User", "User", "User", "User (cancelled)"]);
});

test("another tab sees the same queue, and the slower one is told", async () => {
  deck.expectConsoleErrors(/40[49]/);
  const { id, page } = await withQueue("hello one", "hello two");
  const other = await openSession(deck, id);
  await waitFor(async () => (await queued(other)).length === 2, "the queue in the other tab");
  await other.getByRole("button", { name: "Edit “hello two”" }).click();
  await page.getByRole("button", { name: "Cancel “hello two”" }).click();
  await waitFor(async () => (await queued(other)).length === 1, "the cancellation in the other tab");
  await other.locator("dialog textarea").fill("too late");
  await other.getByRole("button", { name: "Save" }).click();
  await waitForText(other.locator("dialog .field-problem"), /Prompt-3 is no longer queued/);
  await other.keyboard.press("Escape");
  // Another tab cancels it a moment before.
  await page.route(/\/prompt\/prompt-2$/, async (route) => {
    await deck.server.api("DELETE", `copilot/session/${id}/prompt/prompt-2`);
    await route.continue();
  });
  await page.getByRole("button", { name: "Cancel “hello one”" }).click();
  await waitFor(async () => (await queued(page)).length === 0, "cancelled twice is cancelled");
  assert.ok(await page.locator("#request-problem").isHidden());
});

test("who edits a prompt that was changed in another tab meanwhile sees both texts, and decides", async () => {
  deck.expectConsoleErrors(/409/);
  const { id, page } = await withQueue("hello one");
  const other = await openSession(deck, id);
  for (const tab of [page, other]) {
    await tab.getByRole("button", { name: "Edit “hello one”" }).click();
    await tab.locator("dialog textarea").waitFor();
  }
  const [mine, theirs] = [page.locator("dialog"), other.locator("dialog")];
  await mine.locator("textarea").fill("hello, \u202Efirst");
  await mine.getByRole("button", { name: "Save" }).click();
  await mine.waitFor({ state: "detached" });
  await theirs.locator("textarea").fill("hello, second");
  await theirs.getByRole("button", { name: "Save" }).click();
  await waitForText(theirs.locator(".field-problem"), /This prompt was changed elsewhere meanwhile/);
  await waitForText(theirs.locator(".prompt-now"), "hello, U+202Efirst");
  assert.equal(await theirs.locator("textarea").inputValue(), "hello, second");
  const stored = async () => (await deck.server.call("GET", `copilot/session/${id}`)).queuedPrompts.map(({ text }) => text);
  assert.deepEqual(await stored(), ["hello, \u202Efirst"], "nothing was replaced");
  await checkAccessibility(other, "two texts of a prompt");
  // Once more, before this tab has decided.
  await deck.server.call("PATCH", `copilot/session/${id}/prompt/prompt-2`, { text: "hello, third" });
  await theirs.getByRole("button", { name: "Save" }).click();
  await waitForText(theirs.locator(".prompt-now"), "hello, third");
  await theirs.getByRole("button", { name: "Save" }).click();
  await theirs.waitFor({ state: "detached" });
  assert.deepEqual(await stored(), ["hello, second"]);
});

test("a prompt whose turn has begun meanwhile stays, and the page says why", async () => {
  deck.expectConsoleErrors(/409/);
  const { id, page } = await withQueue("permission");
  // Its turn begins a moment before.
  await page.route(/\/prompt\/prompt-2$/, async (route) => {
    await deck.server.api("POST", `copilot/session/${id}/interrupt`);
    await waitFor(async () => (await turns(id)).length === 2, "the second turn");
    await route.continue();
  });
  await page.getByRole("button", { name: "Cancel “permission”" }).click();
  await waitForText(page.locator("#request-problem"), /Could not cancel the queued prompt: Prompt-2 is no longer queued/);
  assert.equal((await queued(page)).length, 0, "the queue is shown as it is");
});

test("an empty text is not saved", async () => {
  const { page } = await withQueue("hello one");
  await page.getByRole("button", { name: "Edit “hello one”" }).click();
  await page.locator("dialog textarea").fill("  ");
  await page.getByRole("button", { name: "Save" }).click();
  await waitForText(page.locator("dialog .field-problem"), /The prompt is empty/);
  await page.keyboard.press("Escape");
  assert.deepEqual(await queued(page), ["hello one"]);
});

test("on a phone the queue stands above the text, and in the toolbar it is counted", async () => {
  const { id } = await withQueue("hello one", "hello two");
  const page = await openSession(deck, id, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await waitFor(async () => (await queued(page)).length === 2, "the queue");
  const [queue, text] = [await page.locator("#composer-queue").boundingBox(), await page.locator("#request-textarea").boundingBox()];
  assert.ok(queue.y + queue.height <= text.y + 1);
  await page.setViewportSize({ width: 390, height: 420 });
  await page.locator("#request-part.toolbar").waitFor();
  assert.equal(await page.locator("#composer-more-button").getAttribute("data-queued"), "2");
});
