// Stop Server ends the session, the server and the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession, Server, send, shown, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const deck = useDeck();

/** Something new waits for a person. Gives the id of the session. */
async function askSomething(server) {
  const id = await server.session();
  await server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  return id;
}

test("a stop that the server refuses leaves the page with its news", async () => {
  deck.expectConsoleErrors(/500/);
  const context = await deck.openContext();
  const page = await context.newPage();
  await page.route(/\/stop$/, (route) => route.fulfill({ status: 500, json: { error: "Broken", message: "The disk is on fire." } }));
  await page.goto(`${deck.server.url}/?session=${await deck.server.session()}`);
  await page.locator("#stop-server-button").click();
  await page.getByText("The disk is on fire.").first().waitFor();
  const asking = [await askSomething(deck.server)];
  await waitForText(page.locator("#inbox-count"), "1");
  const other = await context.newPage();
  await other.goto(deck.server.url);
  await waitForText(other.locator("#inbox-count"), "1");
  await page.close();
  asking.push(await askSomething(deck.server));
  await waitForText(other.locator("#inbox-count"), "2");
  for (const id of asking) await deck.server.api("DELETE", `copilot/session/${id}`);
});

test("why the server was not stopped is said where the closed session is seen", async () => {
  deck.expectConsoleErrors(/500/);
  const page = await openSession(deck, await deck.server.session());
  await page.route(/\/api\/stop$/, (route) => route.fulfill({ status: 500, json: { error: "Broken", message: "The disk is on fire." } }));
  await page.locator("#stop-server-button").click();
  await waitForText(page.locator("#closed-part"), /Could not stop the server: The disk is on fire\. This session is closed/);
  await page.locator("#reopen-button").click();
  await page.locator("#request-textarea").waitFor();
  assert.ok(await page.locator("#request-problem").isHidden(), "it is over");
});

test("the news of other tabs returns with the server while the tab that stopped it is still open", async () => {
  const server = await Server.start({ auth: "none" });
  try {
    deck.expectConsoleErrors(/asked another host|ERR_CONNECTION|ERR_INCOMPLETE|Failed to load resource/);
    const context = await deck.openStrangersContext();
    const first = await context.newPage();
    await first.goto(`${server.url}/?session=${await server.session()}`);
    await first.locator("#session-state .state-word").waitFor();
    await first.locator("#stop-server-button:enabled").waitFor();
    const second = await context.newPage();
    await second.goto(server.url);
    await askSomething(server);
    for (const page of [first, second]) await waitForText(page.locator("#inbox-count"), "1");
    await first.locator("#stop-server-button").click();
    await first.locator("dialog").getByRole("button", { name: "Stop the server" }).click();
    await waitForText(first.locator("#finished-ui"), /server has stopped/i);
    await server.ended();
    await server.startAgain();
    await askSomething(server);
    await waitFor(async () => (await second.title()) === "(2) Flightdeck", "the news");
    // The first tab is still open.
    await first.locator("#finished-ui").waitFor();
  } finally {
    await server.remove();
  }
});

test("a page that has heard of nothing yet asks the server what is at work", async () => {
  const asking = await askSomething(deck.server);
  const page = await (await deck.openContext()).newPage();
  await page.route(/\/api\/events$/, () => {});
  await page.goto(`${deck.server.url}/?session=${await deck.server.session()}`);
  await shown(page);
  await page.locator("#stop-server-button:enabled").click();
  await waitForText(page.locator("dialog p"), /^Other sessions are working: .*All histories are kept\.$/);
  await page.locator("dialog").getByRole("button", { name: "Keep it running" }).click();
  await deck.server.api("DELETE", `copilot/session/${asking}`);
});

test("it asks first if it would end what the page's own session is doing", async () => {
  const id = await askSomething(deck.server);
  const page = await openSession(deck, id);
  await page.locator(".request-block.waiting").waitFor();
  await page.locator("#stop-server-button:enabled").click();
  await waitForText(page.locator("dialog p"), "What waits for your answer will be cancelled. All histories are kept.");
  await page.locator("dialog").getByRole("button", { name: "Keep it running" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await deck.server.call("GET", `copilot/session/${id}`)).state, "waiting");
  await deck.server.api("DELETE", `copilot/session/${id}`);
});

test("with others at work it asks first; then it stops everything and says that the page may be closed", async () => {
  const other = await deck.server.session({ title: "Somebody else's" });
  await deck.server.call("POST", `copilot/session/${other}/prompt`, { text: "permission" });
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await send(page, "hello");
  await page.locator(".turn-end").waitFor();
  await page.locator("#inbox-count", { hasText: "1" }).waitFor();
  await page.locator("#stop-server-button").click();
  await waitForText(page.locator("dialog p"), /Somebody else's/);
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await deck.server.api("GET", "test")).status, 200, "Enter keeps it running");
  await page.locator("#stop-server-button").click();
  await page.getByRole("button", { name: "Stop the server" }).click();
  await waitForText(page.locator("#finished-ui"), /can close this page/);
  assert.equal(await deck.server.ended(), 0);
});

test("alone it stops at once", async () => {
  const server = await Server.start({ auth: "none" });
  try {
    const page = await (await deck.openStrangersContext()).newPage();
    deck.expectConsoleErrors(/asked another host/);
    const id = await server.session();
    // All but what stays open: a call that the stop cuts off is an error in the console.
    const calls = watchCalls(page, /^\/api\/(?!events$|copilot\/session\/[^/]+\/live)/);
    await page.goto(`${server.url}/?session=${id}`);
    await shown(page);
    await page.locator("#composer-model:enabled option[value=demo-slow]").waitFor({ state: "attached" });
    await waitFor(() => calls.underWay === 0, "all replies");
    await page.locator("#stop-server-button").click();
    await waitForText(page.locator("#finished-ui"), /server has stopped/i);
    assert.equal(await server.ended(), 0);
  } finally {
    await server.remove();
  }
});
