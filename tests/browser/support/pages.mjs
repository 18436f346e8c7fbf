// What tests of the pages do again and again.

import { waitFor } from "./waiting.mjs";

/** Opens the page of a session and waits until it shows what the session is doing. */
export async function openSession(deck, sessionId, context) {
  const page = await deck.openPage(`/?session=${sessionId}`, context);
  await shown(page);
  return page;
}

/** Waits until a session is shown. */
export async function shown(page) {
  await page.locator("#session-state .state-word").waitFor({ state: "attached" });
  await page.locator("#details-button:enabled").waitFor();
}

/** Writes a request and sends it with the keyboard, once the one before has been taken: its events may come before its reply. */
export async function send(page, text, keys = "Control+Enter") {
  await page.locator("#queue-button:not([disabled])").waitFor({ state: "attached" });
  await page.locator("#request-textarea").fill(text);
  await page.locator("#request-textarea").press(keys);
}

/** Waits until the request that was sent is no longer in its box: events of its turn may come before. */
export function taken(page) {
  return waitFor(async () => (await page.locator("#request-textarea").inputValue()) === "", "the request to be taken");
}

/** Sends a request and waits until its turn is over. */
export async function turn(page, text) {
  const ends = page.locator(".turn-end");
  // The end of a turn may be shown, or heard of elsewhere, before the page lets the next one begin.
  await page.locator("#send-button:enabled").waitFor({ state: "attached" });
  const before = await ends.count();
  await send(page, text);
  await ends.nth(before).waitFor();
  await waitFor(() => page.locator("#send-button").isEnabled(), "the send button");
}

/** The server is back: retries at once, unless the page has just done so by itself, and waits for the connection. */
export async function reconnect(page) {
  await page.evaluate(() => document.querySelector('[data-banner="connection"] button')?.click());
  await page.locator('[data-banner="connection"]').waitFor({ state: "detached" });
}

/** Answers the oldest open request by key: goes to it, then presses the number of a choice. */
export async function choose(page, number) {
  await page.locator(".request-block.waiting:has(.request-choice):not(:has([aria-disabled]))").first().waitFor();
  await page.keyboard.press("Alt+a");
  await page.keyboard.press(String(number));
}

/** Waits two frames, so that everything that was changed has been painted and measured. */
export function painted(page) {
  return page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))));
}

/** Waits until finished blocks in view, and those that are loaded ahead, show the server's HTML and have its height. */
export function rendered(page) {
  return waitFor(async () => {
    await painted(page);
    return page.evaluate(() => {
      const { top, bottom } = document.querySelector("#session-part").getBoundingClientRect();
      const ahead = 1200;
      const isNear = (block) => block.getBoundingClientRect().bottom >= top - ahead && block.getBoundingClientRect().top <= bottom + ahead;
      // The button says "Raw" if the block is to show what is rendered.
      const isText = (block) => block.querySelector(".message-block-raw:not([hidden])")?.textContent === "Raw" && block.querySelector(".message-block-content.message-block-text");
      return ![...document.querySelectorAll(".message-block:not(.receiving, .collapsed)")].some((block) => isText(block) && isNear(block));
    });
  }, "the server's HTML");
}

/** The blocks of a kind, newest last. */
export function blocks(page, type) {
  return page.locator(type ? `.message-block[data-type="${type}"]` : ".message-block");
}

/** Waits until the set-up has its folder: the reply that names it would mix with what a test writes there. */
export function folderKnown(page) {
  return waitFor(() => page.locator("#working-dir").inputValue(), "the folder");
}

/** Opens the set-up and waits until a session can be started. */
export async function openSetup(deck, path = "/", context) {
  const page = await deck.openPage(path, context);
  await folderKnown(page);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  await page.locator("#inbox-button:enabled").waitFor();
  return page;
}

/** Collects what the page asks the server for from now on: `{ method, path }` with a count of calls under way. */
export function watchCalls(page, pattern) {
  const calls = { all: [], underWay: 0 };
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (!pattern.test(pathname)) return;
    calls.all.push(`${request.method()} ${pathname}${search}`);
    calls.underWay += 1;
    const done = () => {
      calls.underWay -= 1;
    };
    request.response().then((answer) => answer?.finished()).then(done, done);
  });
  return calls;
}
