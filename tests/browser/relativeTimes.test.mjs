// "5 min ago": the same words everywhere, and current while a page stays open. The clock of the pages is the tests'.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, useDeck, waitFor } from "./support/index.mjs";

const deck = useDeck();

const WIDE = { viewport: { width: 1500, height: 900 } };

/** A clock can only be stopped at a time that has not come yet, however long it takes to say so. */
const AHEAD = 60_000;

/** Gives a page a clock that is behind by what it skips when it is stopped; then it is `later` milliseconds ahead of the server's. */
function startClock(page, later = 0) {
  return page.clock.install({ time: Date.now() - AHEAD + later });
}

/** Stops the clock of a page. What is due by then is done. */
async function stopClock(page) {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + AHEAD);
}

/** What times of a page say, and what they should say: `[{ text, wanted }]`. */
function times(page, selector) {
  return page.locator(selector).evaluateAll((elements) =>
    elements.map((element) => {
      const minutes = Math.floor((Date.now() - Date.parse(element.dateTime)) / 60_000);
      return { text: element.textContent, wanted: minutes < 1 ? "just now" : minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago` };
    }),
  );
}

/** Checks that there are such times and that all are current; `inRow` are in few letters. */
async function checkTimes(page, selector, { inRow = false } = {}) {
  const found = await waitFor(async () => {
    const all = await times(page, selector);
    return all.length > 0 && all;
  }, selector);
  const short = (text) => (inRow ? text.replace(/^just | ago$/g, "") : text);
  assert.deepEqual(found.map(({ text }) => text), found.map(({ wanted }) => short(wanted)), selector);
}

const PASSED = [20_000, 45_000, 60_000, 3_600_000];

test("the transcript and the sidebar say the same, and stay current", async () => {
  const id = await deck.server.session({ title: "Timed" });
  await deck.server.turn(id, "hello");
  const page = await (await deck.openContext(WIDE)).newPage();
  await startClock(page, 13_000);
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await page.locator(".turn-end time").waitFor();
  const inSidebar = `.sidebar-row[data-place="${id}"] .sidebar-age`;
  await page.locator(inSidebar).waitFor();
  await stopClock(page);
  for (const passed of [0, ...PASSED]) {
    await page.clock.runFor(passed);
    await checkTimes(page, ".turn-end time, .message-block-time time");
    await checkTimes(page, inSidebar, { inRow: true });
  }
});

test("lists of sessions and requests, and what was found, stay current", async () => {
  const id = await deck.server.session({ title: "A permission, listed" });
  await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  const page = await (await deck.openContext(WIDE)).newPage();
  await startClock(page);
  await page.goto(deck.server.url);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  await page.locator("#session-search").fill("permission");
  await page.locator("#search-results time").first().waitFor();
  await page.locator("#inbox-button:enabled").click();
  await page.locator(".inbox-age").first().waitFor({ state: "attached" });
  await stopClock(page);
  for (const passed of [0, ...PASSED]) {
    await page.clock.runFor(passed);
    // Other sessions may be a minute old between two ticks of the page.
    await checkTimes(page, `#session-list [data-session="${id}"] time`);
    await checkTimes(page, "#search-results time");
    await checkTimes(page, ".inbox-age time");
  }
});

test("a closed session says how long ago, and that stays current", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  await deck.server.call("POST", `copilot/session/${id}/stop`);
  const page = await (await deck.openContext(WIDE)).newPage();
  await startClock(page);
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator("#closed-part time").waitFor();
  await stopClock(page);
  for (const passed of [0, ...PASSED]) {
    await page.clock.runFor(passed);
    await checkTimes(page, "#closed-part time");
  }
});
