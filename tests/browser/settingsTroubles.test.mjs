// The settings page when things go wrong: markup, a file changed by hand, one that cannot be written, no right, no server.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import test from "node:test";
import { Server, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { fileSays, openSettings, setting, settingsFile, settingsPath } from "./support/settingsPage.mjs";

const MARKUP = '<img src=x onerror="document.title=1"><b>';

const deck = useDeck({
  config: `[sessions]\nmodel = '${MARKUP}'\n[providers.'${MARKUP}']\nbase_url = 'http://x/${MARKUP}'\nmodels = ['${MARKUP}']\n[mcp_servers.'${MARKUP}']\ncommand = '${MARKUP}'\n[acp.'${MARKUP}']\ncommand = '${MARKUP}'\nargs = ['${MARKUP}']\n[notifications.targets.'${MARKUP}']\nurl = 'http://127.0.0.1:1/x'\n[runtimes.'acp:${MARKUP}']\nmodel = '${MARKUP}'\n[capture.aliases]\n'${MARKUP}' = '${MARKUP}'\n[[permissions.rules]]\ntool = '${MARKUP}'\ndecision = 'ask'\nprefix = '${MARKUP}'\n`,
});

test("markup is text everywhere", async () => {
  await deck.server.call("POST", "tokens", { scopes: ["view"], name: MARKUP });
  const page = await openSettings(deck);
  for (const section of ["agents", "models", "mcp", "permissions", "notifications", "tokens", "jobs"]) {
    await page.goto(`${deck.server.url}/settings.html#${section}`);
    await page.locator(`#section-${section}[data-built]`).waitFor();
    await page.waitForFunction((id) => !/Loading …/.test(document.getElementById(`section-${id}`).innerText), section);
    assert.equal(await page.locator("#settings-ui img, #settings-ui .entry b b, #settings-ui .entry-words i").count(), 0, section);
    assert.match(await page.title(), /Settings/);
  }
  await page.goto(`${deck.server.url}/settings.html#models`);
  await page.getByRole("button", { name: /Edit provider/ }).click();
  await page.locator("#section-models .entry-form").getByLabel("Models").fill("other");
  await page.locator("#section-models .entry-form").getByRole("button", { name: "Save" }).click();
  await fileSays(deck.server, '"other"');
});

test("a file that was changed by hand is not overwritten without a word", async () => {
  deck.expectConsoleErrors(/409/);
  const page = await openSettings(deck, "server");
  const row = setting(page, "limits.sessions");
  await row.getByRole("textbox").fill("11");
  await writeFile(settingsPath(deck.server), `${await settingsFile(deck.server)}\n[limits]\nsessions = 12\nqueued_prompts = 13\n`);
  await row.getByRole("textbox").press("Enter");
  await waitForText(row.locator(".field-problem"), /^Not saved: the settings have changed since this page loaded them\./);
  assert.equal(await row.getByRole("textbox").inputValue(), "11", "what was typed stays");
  assert.match(await settingsFile(deck.server), /sessions = 12/);
  await waitFor(async () => (await setting(page, "limits.queued_prompts").getByRole("textbox").inputValue()) === "13", "the other value by hand");
  await row.getByRole("button", { name: "Save" }).click();
  await waitForText(row.locator(".setting-state"), "Saved");
  const text = await settingsFile(deck.server);
  assert.ok(text.includes("sessions = 11") && text.includes("queued_prompts = 13"), text);
});

test("a file that is broken by hand is said, and the old settings stay", async () => {
  deck.expectConsoleErrors(/400/);
  const good = await settingsFile(deck.server);
  const page = await openSettings(deck, "server");
  await writeFile(settingsPath(deck.server), "[limits\n");
  await page.getByRole("button", { name: "Reload" }).click();
  await waitForText(page.locator(".settings-file .setting-state"), /not valid TOML/);
  await writeFile(settingsPath(deck.server), good);
  await page.getByRole("button", { name: "Reload" }).click();
  await waitForText(page.locator(".settings-file .setting-state"), "Reloaded");
});

test("a login without the right says what it needs", async () => {
  deck.expectConsoleErrors(/403/);
  const context = await deck.openContext();
  const page = await context.newPage();
  await page.route("**/api/settings", (route) => route.fulfill({ status: 403, json: { error: "ScopeMissing", message: "The token lacks the scope admin." } }));
  await page.goto(`${deck.server.url}/settings.html#budgets`);
  await waitForText(page.locator("#section-budgets .field-problem"), /can't see settings: they need the scope admin/);
  await page.locator("#section-select").evaluate(() => (location.hash = "appearance"));
  await page.locator("#theme-select").waitFor();
  await page.unroute("**/api/settings");
  await page.evaluate(() => (location.hash = "budgets"));
  await page.locator("#section-budgets").getByRole("button", { name: "Retry" }).click();
  await setting(page, "budget.day_tokens").waitFor();
  await page.route("**/api/settings", (route) => (route.request().method() === "PATCH" ? route.fulfill({ status: 403, json: { error: "ScopeMissing", message: "The token lacks the scope admin." } }) : route.continue()));
  await setting(page, "budget.refuse").getByRole("switch").click();
  await waitForText(setting(page, "budget.refuse").locator(".field-problem"), /this login can't change settings/);
  assert.equal(await setting(page, "budget.refuse").getByRole("switch").isChecked(), false, "it shows what is in force");
});

test("a list that cannot be loaded says so and is loaded again", async () => {
  deck.expectConsoleErrors(/500/);
  const context = await deck.openContext();
  const page = await context.newPage();
  for (const route of ["runtimes", "tokens", "folder-rules", "notifications?*"]) await page.route(`**/api/${route}`, (answer) => answer.fulfill({ status: 500, json: { error: "InternalError", message: "It broke." } }));
  for (const [section, words] of [["agents", /Could not load agents: It broke\./], ["tokens", /Could not load tokens/], ["permissions", /Could not load the rules/], ["notifications", /Could not load notifications/]]) {
    await page.goto(`${deck.server.url}/settings.html#${section}`);
    await waitForText(page.locator(`#section-${section} .not-loaded`), words);
  }
  await page.unrouteAll();
  await page.locator("#section-notifications .not-loaded").getByRole("button", { name: "Retry" }).click();
  await waitForText(page.locator(".deliveries"), /Nothing was sent/);
});

test("without storage everything works but what the browser should keep", async () => {
  const server = await Server.start({ auth: "none" });
  const context = await deck.openStrangersContext();
  try {
    await context.addInitScript(() => {
      Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("blocked", "SecurityError"); } });
    });
    const page = await context.newPage();
    // This server is another one than the file's.
    deck.expectConsoleErrors(/asked another host/);
    await page.goto(`${server.url}/settings.html#appearance`);
    await page.locator("#theme-select").selectOption("light");
    await waitForText(page.locator('[data-key="theme-select"] .setting-state'), /can't save it/);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
    await page.locator("#times-select").selectOption("exact");
    await waitForText(page.locator('[data-key="times-select"] .setting-state'), /can't save it/);
    await page.evaluate(() => (location.hash = "permissions"));
    await setting(page, "permissions.allow_reads").getByRole("switch").click();
    await fileSays(server, "allow_reads = false");
  } finally {
    await context.close();
    await server.remove();
  }
});

test("a file that cannot be written is said beside the setting", async () => {
  const server = await Server.start({ auth: "none", environment: { FLIGHTDECK_CONFIG: "/proc/no-such-folder/flightdeck.toml" } });
  try {
    deck.expectConsoleErrors(/asked another host|500/);
    const page = await (await deck.openStrangersContext()).newPage();
    await page.goto(`${server.url}/settings.html#permissions`);
    const row = setting(page, "permissions.allow_reads");
    await row.getByRole("switch").click();
    await waitForText(row.locator(".field-problem"), /Cannot write the configuration file \/proc\/no-such-folder\/flightdeck\.toml/);
    assert.equal(await row.getByRole("switch").isChecked(), true, "it shows what is in force");
  } finally {
    await server.remove();
  }
});

test("a server that is gone keeps what was typed, and takes it when it is back", async () => {
  deck.expectConsoleErrors(/ERR_|Failed to load|fetch|network/i);
  await deck.server.call("PATCH", "settings", { changes: { "limits.queued_prompts": 99 } });
  const page = await openSettings(deck, "server");
  const row = setting(page, "limits.sessions");
  await row.getByRole("textbox").fill("21");
  await deck.server.kill();
  await row.getByRole("button", { name: "Save" }).click();
  await waitForText(row.locator(".field-problem"), /^Not saved: the server did not respond/);
  assert.equal(await row.getByRole("textbox").inputValue(), "21");
  await deck.server.startAgain();
  // The server has begun with its first file again, and the page reads that by itself.
  await waitFor(async () => (await setting(page, "limits.queued_prompts").getByRole("textbox").inputValue()) === "100", "the settings of the new server");
  assert.equal(await row.getByRole("textbox").inputValue(), "21", "what was typed stays");
  await row.getByRole("button", { name: "Save" }).click();
  await fileSays(deck.server, "sessions = 21");
});

test("what was saved although its reply was lost says so when the server is back, and what was not stays", async () => {
  deck.expectConsoleErrors(/ERR_|Failed to load|fetch|network/i);
  const page = await openSettings(deck, "server");
  const saved = setting(page, "limits.sessions");
  const unsaved = setting(page, "limits.queued_prompts");
  let isDead = false;
  await page.route(/\/api\/settings$/, async (route) => {
    const { changes, dryRun } = route.request().postDataJSON() ?? {};
    if (isDead || dryRun || !changes) return route.continue();
    isDead = true;
    await route.fetch();
    await deck.server.kill();
    return route.abort("connectionreset");
  });
  await saved.getByRole("textbox").fill("22");
  await saved.getByRole("button", { name: "Save" }).click();
  await waitForText(saved.locator(".field-problem"), /^Not saved: the server did not respond/);
  await unsaved.getByRole("textbox").fill("55");
  await unsaved.getByRole("button", { name: "Save" }).click();
  await waitForText(unsaved.locator(".field-problem"), /^Not saved: the server did not respond/);
  const config = await settingsFile(deck.server);
  assert.match(config, /sessions = 22/);
  await deck.server.startAgain({ config });
  await waitForText(saved.locator(".setting-state"), "Saved");
  assert.ok(await saved.locator(".field-problem").isHidden());
  assert.ok(await saved.getByRole("button", { name: "Save" }).isHidden());
  assert.equal(await saved.getByRole("textbox").inputValue(), "22");
  await waitForText(unsaved.locator(".field-problem"), /^Not saved: the server did not respond/);
  assert.equal(await unsaved.getByRole("textbox").inputValue(), "55");
  await unsaved.getByRole("button", { name: "Save" }).click();
  await fileSays(deck.server, "queued_prompts = 55");
});

test("so do rules, and an entry whose removal had no reply", async () => {
  deck.expectConsoleErrors(/ERR_|Failed to load|fetch|network/i);
  await deck.server.call("PATCH", "settings", { changes: { "permissions.rules": null, "capture.aliases.old": "demo" } });
  const page = await openSettings(deck, "permissions");
  let isCutOff = false;
  await page.route(/\/api\/settings$/, async (route) => {
    const { changes = {}, dryRun } = route.request().postDataJSON() ?? {};
    const isChange = !dryRun && Object.keys(changes).length > 0;
    if (!isChange) return isCutOff ? route.abort("failed") : route.continue();
    // From now on the page learns nothing, until it may.
    isCutOff = true;
    await route.fetch();
    return route.abort("connectionreset");
  });
  const reload = () => {
    isCutOff = false;
    return page.getByRole("button", { name: "Reload", exact: true }).click();
  };
  const rules = setting(page, "permissions.rules");
  await rules.getByRole("button", { name: "Add rule" }).click();
  await rules.locator(".rule-tool").fill("read");
  await rules.getByRole("button", { name: "Save rules" }).click();
  await waitForText(rules.locator(".field-problem"), /^Not saved: the server did not respond/);
  await reload();
  await waitForText(rules.locator(".setting-state"), "Saved");
  assert.ok(await rules.locator(".field-problem").isHidden());
  assert.ok(await rules.getByRole("button", { name: "Save rules" }).isHidden());

  await page.evaluate(() => (location.hash = "jobs"));
  const aliases = page.locator('.entry-table[data-table="capture.aliases"]');
  await aliases.getByRole("button", { name: "Remove alias old" }).click();
  await page.locator("dialog[open]").getByRole("button", { name: "Remove" }).click();
  await waitForText(aliases.locator(":scope > .field-problem"), /^Not saved: the server did not respond/);
  await reload();
  await aliases.locator('.entry[data-name="old"]').waitFor({ state: "detached" });
  await aliases.locator(":scope > .field-problem").waitFor({ state: "hidden" });
});
