// Unread and failed sessions, the same on every device.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession, send, turn, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const deck = useDeck();
const WIDE = { viewport: { width: 1440, height: 800 } };
const row = (page, title) => page.locator(".sidebar-row", { hasText: title });
const details = (id) => deck.server.call("GET", `copilot/session/${id}`);

test("a turn that ended elsewhere is unread until its end is shown, then on no device", async () => {
  const [here, other] = [await deck.server.session({ title: "Here" }), await deck.server.session({ title: "Other" })];
  const page = await openSession(deck, here, WIDE);
  const second = await openSession(deck, here, WIDE);
  await row(page, "Other").waitFor();
  await deck.server.turn(other, "hello");
  for (const one of [page, second]) await waitFor(async () => /unread/.test(await row(one, "Other").getAttribute("class")), "the mark");
  await waitForText(row(page, "Other"), /Ready, unread/);
  await row(page, "Other").click();
  await waitForText(page.locator("#session-title"), "Other");
  await waitFor(async () => (await details(other)).unread === false, "the server knows");
  await waitFor(async () => !/unread/.test(await row(second, "Other").getAttribute("class")), "the other device");
});

test("an unread session has its dot in the sidebar and in the switcher, also once it is closed", async () => {
  const id = await deck.server.session({ title: "Finished" });
  await deck.server.turn(id, "hello");
  const page = await openSession(deck, await deck.server.session({ title: "Elsewhere" }), WIDE);
  const mark = row(page, "Finished").locator(".state-mark");
  const dot = () => mark.evaluate((element) => [getComputedStyle(element).visibility, getComputedStyle(element).height, getComputedStyle(element).backgroundColor]);
  await waitForText(row(page, "Finished"), /Ready, unread/);
  const whileOpen = await dot();
  assert.equal(whileOpen[0], "visible");
  await deck.server.call("POST", `copilot/session/${id}/stop`);
  await waitForText(row(page, "Finished"), /Closed, unread/);
  assert.deepEqual(await dot(), whileOpen);
  await page.keyboard.press("Control+k");
  await page.locator(".switcher-option", { hasText: "Finished" }).locator(".state-unread").waitFor();
});

test("what a person watches is not unread, costs one call a turn, and does not count as activity", async () => {
  const id = await deck.server.session({ title: "Watched" });
  const page = await openSession(deck, id, WIDE);
  const calls = watchCalls(page, /\/seen$/);
  await turn(page, "hello");
  await waitFor(async () => (await details(id)).unread === false && calls.all.length > 0, "it is seen");
  assert.equal(calls.all.length, 1);
  const before = await details(id);
  await page.reload();
  await page.locator(".turn-end").waitFor();
  assert.equal((await details(id)).updatedAt, before.updatedAt);
  assert.ok(!/unread/.test(await row(page, "Watched").getAttribute("class")));
});

test("a reader who has scrolled up has not seen the end", async () => {
  const id = await deck.server.session({ title: "Far up" });
  const page = await openSession(deck, id, { viewport: { width: 1440, height: 600 } });
  await turn(page, "blocks 40");
  await waitFor(async () => (await details(id)).unread === false, "the first turn is seen");
  await page.locator("#session-part").hover();
  await page.mouse.wheel(0, -800);
  await page.locator("#to-end-button").waitFor();
  await deck.server.turn(id, "hello");
  await waitFor(async () => (await page.locator(".turn-end").count()) === 2, "the turn arrived");
  assert.equal((await details(id)).unread, true);
  await page.locator("#to-end-button").click();
  await waitFor(async () => (await details(id)).unread === false, "now it is seen");
});

test("a session whose last turn failed or crashed does not look ready", async () => {
  const id = await deck.server.session({ title: "Troubled" });
  const page = await openSession(deck, id, WIDE);
  const word = page.locator("#session-state .state-word");
  await send(page, "error quota");
  await waitForText(word, "Failed");
  assert.match(await page.locator("#session-state").getAttribute("class"), /state-failed/);
  assert.equal(await page.locator("#session-state").getAttribute("title"), "The last turn failed");
  await waitFor(async () => /state-failed/.test(await row(page, "Troubled").locator(".sidebar-mark").getAttribute("class")), "the mark in the sidebar");
  await page.locator("#inbox-button").click();
  await waitForText(page.locator(".inbox-entry", { hasText: "Troubled" }).locator(".state-word"), "Failed");
  await page.keyboard.press("Escape");
  await page.reload();
  await waitForText(word, "Failed");
  await turn(page, "hello");
  await waitForText(word, "Ready");
  await send(page, "crash");
  await waitForText(word, "Failed");
  await page.locator("#home-link").click();
  await waitForText(page.locator(".session-row", { hasText: "Troubled" }).locator(".state-word"), "Failed");
});
