// When things go wrong around the page: it says what happened, and goes on when it can.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, openSession, openSetup, painted, reconnect, rendered, shown, turn, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const deck = useDeck();

const GONE = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|Failed to load resource/;

test("the set-up misses the server, says so, and is up to date when it is back", async () => {
  deck.expectConsoleErrors(GONE);
  const page = await openSetup(deck);
  await deck.server.kill();
  await waitForText(page.locator("#connection-status"), /not responding/);
  await page.locator("#start-button").click();
  await waitForText(page.locator("#start-problem"), /Could not start the session: The server did not respond/);
  await deck.server.startAgain();
  const id = await deck.server.session({ title: "After the restart" });
  await waitForText(page.locator(`.session-row[data-session="${id}"] .session-link`), "After the restart");
  await waitForText(page.locator("#connection-status"), "");
});

test("a session that cannot be read at first is shown as soon as it can", async () => {
  deck.expectConsoleErrors(/503/);
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const context = await deck.openContext();
  let busy = true;
  await context.route(new RegExp(`/api/copilot/session/${id}(/log.*)?$`), (route) => (busy ? route.fulfill({ status: 503, json: { error: "Busy", message: "The database is being repaired." } }) : route.continue()));
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await waitForText(page.locator('[data-banner="connection"] .banner-text'), /database is being repaired\. Retrying/);
  busy = false;
  await reconnect(page);
  await waitForText(blocks(page, "Message"), /Hello from the demo/);
  await turn(page, "hello again");
});

test("earlier parts that cannot be loaded are said at the top, and tried again", async () => {
  deck.expectConsoleErrors(/500/);
  const id = await deck.server.session();
  await deck.server.turn(id, "blocks 400");
  const context = await deck.openContext();
  let broken = true;
  await context.route(/\/log\?before=\d{1,9}&/, (route) => (broken ? route.fulfill({ status: 500, json: { error: "InternalError", message: "The page cannot be read." } }) : route.continue()));
  const page = await context.newPage();
  const calls = watchCalls(page, /\/log$/);
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await rendered(page);
  await page.locator("#session-part").evaluate((part) => part.scrollTo({ top: 0 }));
  // What it asks for when it gets there may fail a second time.
  await painted(page);
  await waitFor(() => calls.underWay === 0, "the reply");
  await waitForText(page.locator(".history-top"), /Could not load earlier messages: The page cannot be read/);
  const asked = calls.all.length;
  await page.locator("#session-part").evaluate(async (part) => {
    for (const top of [30, 0, 60, 5]) {
      part.scrollTo({ top });
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
  });
  assert.equal(calls.all.length, asked, "scrolling about at the top does not ask again and again");
  broken = false;
  await page.locator(".history-top").getByRole("button", { name: "Retry" }).click();
  await waitForText(page.locator(".history-top"), /Start of the session|Loading/);
  await waitFor(async () => (await blocks(page).count()) > 100, "the earlier parts");
});

test("a tab that nobody sees asks less often, and catches up when it is seen", async () => {
  const id = await deck.server.session();
  const context = await deck.openContext();
  const page = await context.newPage();
  const calls = watchCalls(page, /\/live\//);
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator(".session-empty").waitFor();
  await waitFor(() => calls.underWay === 1, "the first call");
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { get: () => window.isHidden, configurable: true });
    window.isHidden = true;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await deck.server.turn(id, "hello");
  await waitFor(() => calls.underWay === 0, "the end of the call");
  const asked = calls.all.length;
  await deck.server.turn(id, "reason");
  assert.equal(calls.all.length, asked, "nobody looks");
  await page.evaluate(() => {
    window.isHidden = false;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await blocks(page, "Reasoning").waitFor();
});

test("two sessions one after the other leave nothing of each other behind", async () => {
  const [one, other] = [await deck.server.session({ title: "First of two" }), await deck.server.session({ title: "Second of two" })];
  await deck.server.turn(one, "reason");
  const page = await openSession(deck, one);
  await waitFor(async () => (await blocks(page).count()) === 3, "the first");
  await page.locator("#request-textarea").fill("a draft of the first");
  await page.keyboard.press("Alt+h");
  await page.locator(`.session-row[data-session="${other}"] a`).click();
  await waitForText(page.locator("#session-title"), "Second of two");
  await page.locator(".session-empty").waitFor();
  assert.equal(await blocks(page).count(), 0);
  assert.equal(await page.locator("#request-textarea").inputValue(), "");
  const calls = watchCalls(page, /\/live\//);
  await turn(page, "hello");
  assert.ok(calls.all.every((call) => call.includes(`/${other}/`)), "only the session that is shown is followed");
  await page.goBack();
  await page.goBack();
  await waitForText(page.locator("#session-title"), "First of two");
  assert.equal(await page.locator("#request-textarea").inputValue(), "a draft of the first");
});

test("a full disk is said where it matters: at the request", async () => {
  deck.expectConsoleErrors(/507/);
  const page = await openSession(deck, await deck.server.session());
  await page.route(/\/interrupt$|\/prompt$/, (route) => route.fulfill({ status: 507, json: { error: "StorageFull", message: "The disk is full." } }));
  await page.locator("#request-textarea").fill("hello");
  await page.locator("#send-button").click();
  await waitForText(page.locator("#request-problem"), /Not sent: The disk is full\./);
  assert.ok(await page.locator("#send-button").isEnabled());
});
