// The first page, for somebody who has just logged in.

import assert from "node:assert/strict";
import { test } from "node:test";
import { useDeck } from "./support/index.mjs";

const deck = useDeck();

test("the first page loads, says its name and leaves the console clean", async () => {
  const page = await deck.openPage("/");
  await page.getByRole("heading", { name: "Flightdeck" }).first().waitFor();
  assert.match(await page.title(), /Flightdeck/);
});

test("without a login there is only the login", async () => {
  deck.expectConsoleErrors(/401/);
  const page = await (await deck.openStrangersContext()).newPage();
  const answer = await page.goto(deck.server.url);
  assert.equal(answer.status(), 401);
  await page.locator("input[name=token]").waitFor();
});
