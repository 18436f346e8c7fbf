// Two people, or two tabs, answer the same request: the one that came second is told.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession, openSetup, send, useDeck, waitForText } from "./support/index.mjs";

const deck = useDeck();

const LATE = ".request-late";
const requestOf = async (id) => (await deck.server.call("GET", `copilot/session/${id}`)).requests[0].requestId;

/** Lets another answer be first, and the refusal of this page's arrive before or after the page has seen that one. */
async function beFirst(page, id, { path, json, seen }) {
  deck.expectConsoleErrors(/409/);
  const requestId = await requestOf(id);
  await page.route(new RegExp(`/${path}/`), async (route) => {
    await deck.server.call("POST", `copilot/session/${id}/${path}/${requestId}`, json);
    if (seen) await seen();
    await route.continue();
  });
}

async function asking(text) {
  const id = await deck.server.session({ title: "Asks" });
  const page = await openSession(deck, id);
  await send(page, text);
  await page.locator(".request-block.waiting .request-choice:not([aria-disabled])").first().waitFor();
  return { id, page };
}

test("an answer that came too late is mentioned at the request, whichever reply comes first", async () => {
  for (const order of ["before", "after"]) {
    const { id, page } = await asking("permission");
    const block = page.locator("#session-part .request-block").last();
    const seen = order === "after" ? () => block.locator(".request-verdict").waitFor() : null;
    await beFirst(page, id, { path: "permission", json: { decision: "deny" }, seen });
    await block.getByRole("button", { name: "Allow once" }).click();
    await waitForText(block.locator(LATE), "Your answer (Allow once) came too late: it was already denied by a program.");
    assert.equal(await block.locator(LATE).getAttribute("role"), "alert");
    assert.equal(await block.locator(".request-verdict").textContent(), "Denied");
    await page.close();
  }
});

test("so is the answer to a question", async () => {
  const { id, page } = await asking("question");
  const block = page.locator("#session-part .request-block").last();
  await beFirst(page, id, { path: "answer", json: { answer: "first" } });
  await block.locator(".request-feedback").fill("my own words");
  await block.getByRole("button", { name: "Answer" }).click();
  await waitForText(block.locator(LATE), "Your answer (my own words) came too late: it was already answered by a program.");
});

test("and one in the inbox", async () => {
  const id = await deck.server.session({ title: "Seen in the inbox" });
  await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  const page = await openSetup(deck);
  await page.locator("#inbox-button").click();
  const card = page.locator(".inbox-list > li", { hasText: "Seen in the inbox" });
  await card.locator(".request-block.waiting:not(:has([aria-disabled]))").waitFor();
  await beFirst(page, id, { path: "permission", json: { decision: "deny" } });
  await card.getByRole("button", { name: "Allow once" }).click();
  await waitForText(card.locator(LATE), "Your answer (Allow once) came too late: it was already denied by a program.");
});

test("an answer that counts has no such line, nor does a tab that only watched", async () => {
  const { id, page } = await asking("permission");
  const other = await page.context().newPage();
  await other.goto(`${deck.server.url}/?session=${id}`);
  await other.locator(".request-block.waiting").waitFor();
  await page.getByRole("button", { name: "Deny" }).click();
  for (const one of [page, other]) {
    await waitForText(one.locator(".request-verdict"), "Denied");
    assert.equal(await one.locator(LATE).count(), 0);
  }
});
