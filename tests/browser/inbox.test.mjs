// What all sessions want from a person: the inbox, the count in the title, notifications.

import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, openSession, openSetup, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const prompt = (id, text) => deck.server.call("POST", `copilot/session/${id}/prompt`, { text });

async function endAll() {
  const { sessions } = await deck.server.call("GET", "copilot/session");
  for (const { sessionId } of sessions) await deck.server.api("DELETE", `copilot/session/${sessionId}`);
}

test("the count of what waits is in the title and on the button, in every session", async () => {
  await endAll();
  const [one, other] = [await deck.server.session({ title: "One" }), await deck.server.session({ title: "Other" })];
  const page = await openSession(deck, one);
  await waitForText(page.locator("#session-title"), "One");
  assert.equal(await page.title(), "One · Flightdeck");
  await prompt(other, "permission");
  await waitFor(async () => (await page.title()) === "(1) One · Flightdeck", "the count");
  await prompt(one, "question");
  await waitFor(async () => (await page.title()) === "(2) One · Flightdeck", "the count");
  await waitForText(page.locator("#inbox-count"), "2");
  await page.keyboard.press("Alt+i");
  const entry = page.locator(".inbox-entry", { hasText: "Other" });
  await waitForText(entry.locator(".inbox-request"), /Permission.*wants to run a command/);
  await waitForText(entry.locator(".state-word"), "Needs your input");
  await entry.click();
  await waitForText(page.locator("#session-title"), "Other");
  await page.locator(".request-choice").first().waitFor();
  await choose(page, 1);
  await waitFor(async () => (await page.title()) === "(1) Other · Flightdeck", "one less");
});

test("requests that a rule has answered leave the count, the title and the inbox", async () => {
  const id = await deck.server.session({ title: "Rule" });
  const context = await deck.openContext();
  const pending = ["request-1", "request-2"].map((requestId) => ({ requestId, kind: "permission", headline: `Run ${requestId}` }));
  let entry = { sessionId: id, title: "Rule", state: "waiting", pending };
  await context.route(/\/api\/events$/, (route) => route.fulfill({ contentType: "text/event-stream", body: `data: ${JSON.stringify(entry)}\n\n` }));
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await waitForText(page.locator("#inbox-count"), "2");
  await page.locator("#inbox-button").click();
  await waitFor(async () => (await page.locator(".inbox-request").count()) === 2, "the requests");
  entry = { ...entry, state: "working", pending: [] };
  await waitFor(async () => (await page.locator(".inbox-request").count()) === 0, "nothing waits");
  assert.ok(await page.locator("#inbox-count").isHidden());
  assert.equal(await page.title(), "Rule · Flightdeck");
});

test("an empty inbox says what it is for, and Escape closes it", async () => {
  await endAll();
  const page = await openSetup(deck);
  await page.locator("#inbox-button").click();
  await waitForText(page.locator(".side-panel-body"), /No open sessions/);
  assert.equal(await page.locator("#inbox-button").getAttribute("aria-expanded"), "true");
  await page.keyboard.press("Escape");
  await page.locator("#side-panel").waitFor({ state: "hidden" });
  assert.equal(await page.evaluate(() => document.activeElement.id), "inbox-button");
});

test("one tab listens for all, and when it goes the next one takes over", async () => {
  await endAll();
  const context = await deck.openContext();
  let streams = 0;
  context.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/events") streams += 1;
  });
  const first = await context.newPage();
  await first.goto(deck.server.url);
  await waitFor(() => streams === 1, "the first stream");
  const second = await context.newPage();
  await second.goto(deck.server.url);
  const id = await deck.server.session({ title: "Seen by both" });
  await prompt(id, "permission");
  for (const page of [first, second]) await waitFor(async () => (await page.title()) === "(1) Flightdeck", "the count");
  assert.equal(streams, 1, "browsers have few connections");
  await first.close();
  await waitFor(() => streams === 2, "the next listener");
  await prompt(await deck.server.session({ title: "Seen by the second" }), "permission");
  await waitFor(async () => (await second.title()) === "(2) Flightdeck", "news of its own stream");
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await waitFor(async () => (await second.title()) === "(1) Flightdeck", "one less");
});

test("notifications are asked for, tell what needs a person and what is done, and nothing that is seen", async () => {
  await endAll();
  const context = await deck.openContext({ permissions: ["notifications"] });
  await context.addInitScript(() => {
    window.notified = [];
    window.Notification = class {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title, options) {
        window.notified.push({ title, body: options.body });
      }
      close() {}
    };
  });
  const [seen, other] = [await deck.server.session({ title: "Seen" }), await deck.server.session({ title: "Unseen" })];
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${seen}`);
  await shown(page);
  await page.locator("#more-button").click();
  await page.getByRole("button", { name: /Notify me/ }).click();
  await page.getByRole("button", { name: "Notifications: on" }).waitFor();
  await prompt(seen, "permission");
  await page.locator(".request-choice").first().waitFor();
  // The stream is there: states from before it are no news.
  await page.locator("#inbox-count", { hasText: "1" }).waitFor();
  await prompt(other, "permission");
  await waitFor(() => page.evaluate(() => window.notified.length === 1), "the notification");
  const { requestId } = (await deck.server.log(other)).find(({ response }) => response.callback === "onPermissionRequested").response;
  await deck.server.call("POST", `copilot/session/${other}/permission/${requestId}`, { decision: "deny" });
  await waitFor(() => page.evaluate(() => window.notified.length === 2), "the second notification");
  assert.deepEqual(await page.evaluate(() => window.notified), [
    { title: "Unseen needs your input", body: "The demo agent wants to run a command" },
    { title: "Unseen finished", body: "" },
  ]);
  await prompt(other, "error quota");
  await waitFor(() => page.evaluate(() => window.notified.length === 3), "the third notification");
  assert.deepEqual(await page.evaluate(() => window.notified[2]), { title: "Unseen failed", body: "" });
  await page.getByRole("button", { name: "Notifications: on" }).click();
  await page.getByRole("button", { name: /Notify me/ }).waitFor();
});
