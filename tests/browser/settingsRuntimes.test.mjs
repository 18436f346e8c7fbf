// Defaults of agents on the settings page: found by a search, saved with a word, with the layer that they come from.

import assert from "node:assert/strict";
import test from "node:test";
import { checkAccessibility, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { fileSays, openSettings, setting, settingsFile } from "./support/settingsPage.mjs";

const deck = useDeck();

const runtime = (page, name) => page.locator(`.runtime-defaults[data-runtime="${name}"]`);
const shownFields = (page, name) => runtime(page, name).locator(".entry-field:visible > :is(label, .entry-label)").allTextContents();
const search = (page, words) => page.locator("#settings-search").fill(words);

test("a search finds the options of each agent and opens them", async () => {
  const page = await openSettings(deck, "budgets");
  const expected = [
    ["agents.md", "copilot-headless", ["Ignore AGENTS.md"]],
    ["agents.md", "copilot", ["Ignore AGENTS.md"]],
    ["built-in mcp", "copilot-acp", ["Disable built-in MCP servers"]],
    ["built-in mcp", "copilot-headless", ["Disable built-in MCP servers"]],
    ["reasoning summaries", "copilot-headless", ["Reasoning summaries"]],
    ["headless stream", "copilot-headless", ["Stream"]],
    ["claude fallback", "claude", ["Fallback model"]],
    ["copilot permission mode", "copilot", ["Permission mode"]],
    ["copilot effort", "copilot", ["Effort"]],
  ];
  for (const [words, name, fields] of expected) {
    await search(page, words);
    await waitFor(async () => JSON.stringify(await shownFields(page, name)) === JSON.stringify(fields), `${fields} of ${name} for ${words}`);
    assert.equal(await page.locator("#search-empty").isVisible(), false, words);
  }
  await search(page, "agents.md");
  await runtime(page, "claude").waitFor({ state: "hidden" });
  await checkAccessibility(page, "options that were found");

  await search(page, "claude");
  await runtime(page, "claude").locator("summary").waitFor();
  assert.equal(await runtime(page, "claude").evaluate(({ open }) => open), false, "its name finds the agent, not each of its options");
  await runtime(page, "claude").locator("summary").click();
  assert.ok((await shownFields(page, "claude")).includes("Bare mode"), "all of its options");

  await page.locator("#settings-search").press("Escape");
  await page.goto(`${deck.server.url}/settings.html#agents`);
  await waitFor(async () => (await page.locator(".runtime-defaults:visible").count()) === 5, "all agents");
  assert.deepEqual(await page.locator(".runtime-defaults[open]").evaluateAll((all) => all.map(({ dataset }) => dataset.runtime)), ["claude"], "what only the search opened is closed again");
});

test("a search that is typed before the agents are there finds their options when they come", async () => {
  const context = await deck.openContext();
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await context.route(/\/api\/runtimes$/, (route) => held.then(() => route.continue()));
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/settings.html#budgets`);
  await page.locator("#section-budgets[data-built]").waitFor();
  await search(page, "agents.md");
  await waitForText(page.locator("#search-empty"), "Searching …");
  release();
  await waitFor(async () => (await shownFields(page, "copilot-headless")).length === 1, "the option");
  await page.locator("#search-empty").waitFor({ state: "hidden" });
});

test("an agent that cannot ask has rules where others ask", async () => {
  const page = await openSettings(deck, "agents");
  for (const [name, first] of [["copilot", "Ask me"], ["copilot-headless", "Rules only"], ["claude", "Rules only"]]) {
    await runtime(page, name).locator("summary").click();
    const choices = await runtime(page, name).getByLabel("Permission mode").locator("option").allTextContents();
    assert.deepEqual(choices, ["Same as for all sessions", first, "Files in the folder only", "Deny everything", "Allow everything"], name);
  }
});

test("saved defaults say so and where they come from; what is typed for another agent stays", async () => {
  const page = await openSettings(deck, "agents");
  const [demo, claude] = [runtime(page, "demo"), runtime(page, "claude")];
  await claude.locator("summary").click();
  await claude.getByLabel("Model", { exact: true }).fill("typed");
  await demo.locator("summary").click();
  assert.equal(await demo.locator(".layer").count(), 0, "nothing is set");
  await demo.getByLabel("Model").fill("demo-slow");
  await demo.getByLabel("Permission mode").selectOption("deny");
  await demo.getByLabel("Model").press("Enter");
  const said = demo.locator('.setting-state[role="status"]');
  await waitForText(said, "Saved");
  await fileSays(deck.server, 'model = "demo-slow"');
  assert.equal(await demo.getByLabel("Model").evaluate((box) => box === document.activeElement), true, "the focus stays");
  await waitForText(demo.locator("summary .layer"), /^Your file: .*flightdeck\.toml$/);
  const layers = () => demo.locator(".entry-field:has(.layer)").evaluateAll((all) => all.map(({ dataset }) => dataset.field));
  assert.deepEqual(await layers(), ["model", "permission_mode"]);
  assert.match(await demo.locator('[data-field="model"] .layer').getAttribute("title"), /flightdeck\.toml$/);
  assert.equal(await claude.getByLabel("Model", { exact: true }).inputValue(), "typed");
  await checkAccessibility(page, "saved defaults");

  await demo.getByLabel("Permission mode").selectOption("");
  await waitForText(said, "");
  await demo.getByRole("button", { name: "Save" }).click();
  await waitForText(said, "Saved");
  await waitFor(async () => JSON.stringify(await layers()) === '["model"]', "the layer of what is set");
  await demo.getByLabel("Model").fill("");
  await demo.getByRole("button", { name: "Save" }).click();
  await demo.locator("summary .layer").waitFor({ state: "detached" });
  assert.doesNotMatch(await settingsFile(deck.server), /runtimes\.demo/);

  await demo.getByLabel("Model").fill("other");
  await demo.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await demo.evaluate(({ open }) => open), false);
  await demo.locator("summary").click();
  assert.equal(await demo.getByLabel("Model").inputValue(), "", "Cancel takes it back");
  await setting(page, "sessions.runtime").waitFor();
});
