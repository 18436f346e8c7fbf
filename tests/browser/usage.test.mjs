// What was used, as the page shows it, and what it says of budgets.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { axeScript, openSession, openSetup, send, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck({ config: "[budget]\nday_tokens = 20000\nsession_tokens = 9000\nrefuse = true\n" });
const axe = await readFile(axeScript, "utf8");

/** The texts of a table, row by row. */
function cells(page, part) {
  return page.locator(`.usage-table ${part} tr`).evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim())));
}

async function openUsage(page) {
  await page.locator("#more-button").click();
  await page.getByRole("button", { name: "Usage and cost" }).click();
  await page.locator(".usage-result > *").first().waitFor();
}

async function groupBy(page, name) {
  const asked = page.waitForResponse(/\/api\/usage/);
  await page.locator(".usage-groupings").getByRole("button", { name }).click();
  await asked;
}

/** Answers `api/usage` with this instead of the server's. */
async function answering(context, answer) {
  await context.route(/\/api\/usage/, (route) => route.fulfill({ json: answer }));
}

const figures = (usage, unknown = {}) => ({
  reports: 3,
  usage: { inputTokens: null, outputTokens: null, premiumRequests: null, costUsd: null, ...usage },
  unknown: { inputTokens: 0, outputTokens: 0, premiumRequests: 0, costUsd: 0, ...unknown },
});

test("nothing used says so, with what comes next", async () => {
  const page = await openSetup(deck);
  await openUsage(page);
  await waitForText(page.locator(".usage-result"), /No usage in this period.*when an agent reports/);
  await waitForText(page.locator(".usage-limit"), /Tokens today: not reported, limit 20,000/);
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#side-panel").isHidden());
});

test("figures stand in a table by day, model, agent and session, and lead to the session", async () => {
  const first = await deck.server.session({ title: "The first one" });
  await deck.server.turn(first, "usage 1500 20 0.5 - 1.25");
  await deck.server.turn(first, "usage 100");
  const gone = await deck.server.session({ title: "Gone", model: "demo-slow" });
  await deck.server.turn(gone, "usage 40");
  await deck.server.call("DELETE", `copilot/session/${gone}`);
  const page = await openSetup(deck);
  await page.keyboard.press("Alt+m");
  await page.locator(".usage-table").waitFor();
  const today = new Date().toISOString().slice(0, 10);
  const dash = "– not reported";
  assert.deepEqual(await cells(page, "thead"), [["Day", "In", "Out", "Premium", "Credits", "Cost"]]);
  assert.deepEqual(await cells(page, "tbody"), [[today, "1.6k", "≥ 20", "≥ 0.5", "≥ 1.25", dash]]);
  assert.deepEqual(await cells(page, "tfoot"), [["Total", "1.6k", "≥ 20", "≥ 0.5", "≥ 1.25", dash]]);
  await waitForText(page.locator(".usage-note"), /Days are in UTC.*means not reported.*some reports lack/);
  assert.match(await page.locator(".usage-table tbody td").nth(1).getAttribute("title"), /at least 20; 2 of 3 reports lack this figure/);
  await groupBy(page, "Model");
  await waitFor(async () => (await cells(page, "tbody")).length === 2, "two models");
  assert.deepEqual((await cells(page, "tbody")).map(([name, tokens]) => [name, tokens]), [["demo demo", "1.6k"], ["demo-slow demo", "40"]]);
  await groupBy(page, "Agent");
  await waitFor(async () => (await cells(page, "tbody"))[0]?.[0] === "demo", "the agent");
  await groupBy(page, "Session");
  await waitFor(async () => (await cells(page, "tbody")).length === 2, "two sessions");
  assert.deepEqual((await cells(page, "tbody")).map(([name]) => name), [`${gone} deleted`, "The first one demo"]);
  await page.locator(".usage-table").getByRole("link", { name: "The first one" }).click();
  await page.locator("#session-ui").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("session"), first);
});

test("the details of a session lead there, and say how far along its budget is", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "usage 400 50");
  const page = await openSession(deck, id);
  await page.locator("#details-button").click();
  await waitForText(page.locator(".details-facts"), /Tokens: 450 of 9,000/);
  await page.locator(".details-facts").getByRole("button", { name: "All sessions" }).click();
  await page.locator(".usage-table").waitFor();
  await waitForText(page.locator("#side-panel-title"), "Usage and cost");
});

test("a budget that is nearly used up and one that is used up are said in words, and a prompt is refused with the way on", async () => {
  deck.expectConsoleErrors(/409/);
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "usage 8000");
  await waitForText(page.locator('.session-notice[data-kind="budget"]'), /8,000 of 9,000 tokens \(budget\.session_tokens\)/);
  assert.equal(await page.locator('.session-notice[data-kind="budget"].notice-warning').count(), 1);
  await turn(page, "usage 1000");
  await send(page, "one more");
  await waitForText(page.locator("#request-problem"), /Not sent: This session has used 9,000 of 9,000 tokens.*start a new session/);
  assert.equal(await page.locator("#request-textarea").inputValue(), "one more", "what was written stays");
});

test("the day's budget has a meter with words", async () => {
  const limits = { premiumRequests: 10, credits: 4, tokens: 1000, costUsd: 2 };
  const budget = { session: {}, day: limits, warnAt: 0.8, refuse: true };
  const today = { day: "2026-03-02", usage: { inputTokens: 600, outputTokens: 250, premiumRequests: 3, credits: 1.2345, costUsd: 2.5 } };
  const context = await deck.openContext();
  await answering(context, { from: "2026-03-01", to: "2026-03-02", by: "day", rows: [], truncated: false, total: figures({}), today, budget });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#inbox-button:enabled").waitFor();
  await page.keyboard.press("Alt+m");
  const limit = (state) => page.locator(`.usage-limit[data-state="${state}"]`);
  await waitForText(limit("fine").first(), /Premium requests today: 3 of 10/);
  await waitForText(limit("fine").nth(1), /AI credits today: 1\.235 of 4/);
  await waitForText(limit("near"), /Tokens today: 850 of 1,000.*Nearly used up/s);
  await waitForText(limit("reached"), /Cost today: \$2\.50 of \$2\.00.*Prompts are refused/s);
});

test("what goes wrong is said, and can be tried again", async () => {
  deck.expectConsoleErrors(/507/);
  const context = await deck.openContext();
  let broken = true;
  await context.route(/\/api\/usage/, (route) => (broken ? route.fulfill({ status: 507, json: { error: "StorageFailed", message: "The disk is gone." } }) : route.continue()));
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#inbox-button:enabled").waitFor();
  await page.keyboard.press("Alt+m");
  await waitForText(page.locator(".usage-result"), /Could not load usage: The disk is gone\./);
  broken = false;
  await page.getByRole("button", { name: "Retry" }).click();
  await page.locator(".usage-table").waitFor();
});

test("only the answer to the last question is shown", async () => {
  const context = await deck.openContext();
  let release = null;
  await context.route(/\/api\/usage\?by=model/, async (route) => {
    await new Promise((resolve) => {
      release = resolve;
    });
    await route.continue();
  });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#inbox-button:enabled").waitFor();
  await page.keyboard.press("Alt+m");
  await page.locator(".usage-table").waitFor();
  await page.locator(".usage-groupings").getByRole("button", { name: "Model" }).click();
  await waitFor(() => release, "the slow question");
  await groupBy(page, "Agent");
  await waitFor(async () => (await cells(page, "thead"))[0][0] === "Agent", "the later answer");
  const late = page.waitForResponse(/by=model/);
  release();
  await (await late).finished();
  assert.equal((await cells(page, "thead"))[0][0], "Agent");
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious, and nothing is wider than a small phone: ${colorScheme}`, async () => {
    const context = await deck.openContext({ colorScheme, viewport: { width: 360, height: 740 }, hasTouch: true });
    const rows = [
      { ...figures({ inputTokens: 12_345_678, outputTokens: 1_234_567, premiumRequests: 123.25, costUsd: 1234.5 }, { costUsd: 1 }), model: "a-provider/with-a-very-long-model-name-that-goes-on:20b", runtimes: ["copilot", "copilot-acp", "acp:gemini"] },
      { ...figures({ inputTokens: 5 }), model: "", runtimes: ["demo"] },
    ];
    const budget = { session: {}, day: { premiumRequests: null, tokens: 100, costUsd: 1 }, warnAt: 0.8, refuse: false };
    await answering(context, { from: "2026-03-01", to: "2026-03-02", by: "model", rows, truncated: true, total: figures({ inputTokens: 12_345_683 }), today: { day: "2026-03-02", usage: { inputTokens: 90, outputTokens: null, costUsd: 2 } }, budget });
    const page = await context.newPage();
    await page.goto(deck.server.url);
    await page.locator("#inbox-button:enabled").waitFor();
    await openUsage(page);
    await page.locator(".usage-table").waitFor();
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
    const body = await page.locator(".side-panel-body").evaluate((element) => ({ scroll: element.scrollWidth, width: element.clientWidth }));
    assert.ok(body.scroll <= body.width, JSON.stringify(body));
    await waitForText(page.locator(".usage-note"), /Not all rows are shown/);
  });
}
