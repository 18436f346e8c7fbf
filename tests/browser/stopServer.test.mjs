// Stop Server ends the session, the server and the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession, Server, send, useDeck, waitForText } from "./support/index.mjs";

const deck = useDeck();

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
    await page.goto(`${server.url}/?session=${id}`);
    await page.locator("#session-state .state-word").waitFor();
    await page.locator("#stop-server-button").click();
    await waitForText(page.locator("#finished-ui"), /server has stopped/i);
    assert.equal(await server.ended(), 0);
  } finally {
    await server.remove();
  }
});
