// Calls of other programs that use an agent as a model, as the page shows them.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { axeScript, openSetup, useDeck, waitForText } from "./support/index.mjs";

const deck = useDeck({});
const axe = await readFile(axeScript, "utf8");

const call = (id, more) => ({ id, at: "2026-11-16T10:00:00Z", token: "token-1", dialect: "chat", model: "gpt-5.2", capture: "held", tools: 2, outcome: "tool_calls", error: null, usage: { inputTokens: 1200, outputTokens: null }, durationMs: 1500, ...more });
const now = { answering: 1, queued: 0, waiting: 2, onDisk: 1, unheard: 0 };

async function openCaptures(page) {
  await page.locator("#more-button").click();
  await page.getByRole("button", { name: "Model API" }).click();
  await page.locator(".captures-list > *").first().waitFor();
}

test("no calls say so, with what to do", async () => {
  const page = await openSetup(deck);
  await openCaptures(page);
  await waitForText(page.locator(".captures-list"), /No program has used an agent.*tokens create --scope models/);
});

test("calls are listed with how they were answered, page by page, and a failure with its reason", async () => {
  const page = await openSetup(deck);
  await page.context().route(/\/api\/captures/, (route) => {
    const isSecond = new URL(route.request().url()).searchParams.get("before") === "7";
    const calls = isSecond ? [call(6, { outcome: "failed", error: "The model is <b>gone</b>.", capture: "fresh" })] : [call(7)];
    return route.fulfill({ json: { calls, next: isSecond ? null : 7, now } });
  });
  await openCaptures(page);
  await waitForText(page.locator("#side-panel [role=status]"), /1 answer in progress, 0 queued, 3 sessions waiting/);
  const rows = page.locator(".captures-list tbody tr");
  await waitForText(rows.first(), /gpt-5.2.*token-1, chat, 2 tools.*tool calls, held, 1\.5\ss.*1.2k.*–/s);
  await page.getByRole("button", { name: "Show more" }).click();
  await waitForText(rows.nth(1), /failed, fresh.*The model is <b>gone<\/b>\./s);
  assert.ok(await page.getByRole("button", { name: "Show more" }).isHidden());
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run("#side-panel"));
  assert.deepEqual(violations.map(({ id }) => id), []);
});
