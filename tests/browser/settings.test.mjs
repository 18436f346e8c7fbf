// The settings page: every setting with its value, its default and its layer; changes are checked, saved and used.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { checkAccessibility, openSetup, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { fileSays, openSettings, setting, settingsFile } from "./support/settingsPage.mjs";

const SECTIONS = ["agents", "models", "mcp", "permissions", "budgets", "notifications", "tokens", "sessions", "jobs", "server", "appearance"];
const TABLES = /^(providers|mcp_servers|acp|runtimes|capture\.aliases|notifications\.targets)\./;

const deck = useDeck({
  config: '# mine\n[limits]\nsessions = 7 # enough\n[recovery]\nattempts = 4\n',
  environment: { FLIGHTDECK_SESSIONS_EFFORT: "high" },
});

test("every setting of the server is on the page, and none is left to its bare key", async () => {
  const page = await openSettings(deck);
  for (const section of SECTIONS) {
    await page.locator(`#section-list a[href="#${section}"]`).click();
    await page.locator(`#section-${section}[data-built]`).waitFor();
    assert.deepEqual(await page.locator(".settings-section:visible").evaluateAll((all) => all.map(({ id }) => id)), [`section-${section}`]);
  }
  const shown = await page.locator("[data-key]").evaluateAll((all) => all.map(({ dataset }) => dataset.key));
  const { settings } = await deck.server.call("GET", "settings");
  const keys = settings.map(({ key }) => key).filter((key) => !TABLES.test(key));
  assert.deepEqual(keys.filter((key) => !shown.includes(key)), []);
  assert.deepEqual(await page.getByRole("heading", { name: "Other", exact: true }).count(), 0, "every setting is in the catalogue");
  assert.equal(new Set(shown).size, shown.length, "each once");
});

test("the menu and a key lead there, and back", async () => {
  const page = await openSetup(deck);
  await page.locator("#more-button").click();
  await page.locator("#more-menu").getByRole("button", { name: /^Settings/ }).click();
  await page.waitForURL(/settings\.html/);
  await page.locator("#inbox-button:enabled").waitFor();
  await page.keyboard.press("Alt+h");
  await page.waitForURL(/index\.html/);
  await page.locator("#inbox-button:enabled").waitFor();
  await page.keyboard.press("Alt+,");
  await page.waitForURL(/settings\.html/);
});

test("a value shows its layer and its default, is checked while it is typed, saved, and reset", async () => {
  deck.expectConsoleErrors(/400/);
  const page = await openSettings(deck, "server");
  const row = setting(page, "limits.sessions");
  assert.equal(await row.getAttribute("data-layer"), "user");
  await waitForText(row.locator(".setting-meta"), /Your file.*Default: 2,000/);
  assert.match(await row.locator(".layer").getAttribute("title"), /flightdeck\.toml$/);
  const box = row.getByRole("textbox");
  assert.equal(await box.inputValue(), "7");

  await box.fill("seven");
  await waitForText(row.locator(".field-problem"), "Enter a whole number, 1 or more.");
  assert.equal(await box.getAttribute("aria-invalid"), "true");
  await box.press("Enter");
  assert.match(await settingsFile(deck.server), /sessions = 7 # enough/);

  await box.fill("8");
  await row.locator(".field-problem").waitFor({ state: "hidden" });
  await box.press("Enter");
  await waitForText(row.locator(".setting-state"), "Saved");
  assert.equal(await row.getByRole("button", { name: "Save" }).isVisible(), false);
  assert.match(await settingsFile(deck.server), /^# mine\n[^]*sessions = 8 # enough/);
  const of = async () => (await deck.server.call("GET", "settings")).settings.find(({ key }) => key === "limits.sessions");
  assert.equal((await of()).value, 8);

  await box.fill("9");
  await box.press("Escape");
  assert.equal(await box.inputValue(), "8", "Escape takes it back");
  await row.getByRole("button", { name: "Reset Open sessions" }).click();
  await waitForText(row.locator(".layer"), "Default");
  assert.equal(await box.inputValue(), "2000");
  assert.equal((await of()).layer, "default");
  assert.doesNotMatch(await settingsFile(deck.server), /sessions =/);
});

test("what the server refuses is said beside the box, in its words", async () => {
  deck.expectConsoleErrors(/400/);
  const page = await openSettings(deck, "sessions");
  const row = setting(page, "recovery.first_delay");
  await row.getByRole("textbox").fill("soon");
  await waitForText(row.locator(".field-problem"), '"soon" is not a duration. Enter a number and a unit, such as 30s or 5m.');
  const before = await settingsFile(deck.server);
  await row.getByRole("button", { name: "Save" }).click();
  await waitForText(row.locator(".field-problem"), /not a duration/);
  assert.equal(await settingsFile(deck.server), before);
  await row.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await row.getByRole("textbox").inputValue(), "1s");

  await page.goto(`${deck.server.url}/settings.html#server`);
  const bind = setting(page, "server.bind");
  await bind.getByRole("textbox").fill("0.0.0.0");
  await waitForText(bind.locator(".field-warning"), /Other machines can reach/);
  await waitForText(bind.locator(".field-problem"), /^server\.bind = 0\.0\.0\.0 would .*--behind-proxy/);
  const size = setting(page, "limits.prompt_bytes");
  await size.getByRole("textbox").fill("0");
  await waitForText(size.locator(".field-problem"), "Expected a whole number, 1 or more, got 0.");

  await page.goto(`${deck.server.url}/settings.html#notifications`);
  const address = setting(page, "notifications.base_url");
  await address.getByRole("textbox").fill("nowhere");
  await waitForText(address.locator(".field-problem"), /^base_url is "nowhere"; it must be/);
});

test("a number that does not fit gets the range that does", async () => {
  const page = await openSettings(deck, "server");
  const cases = [
    ["server", "limits.sessions", "0", "Enter a whole number, 1 or more."],
    ["server", "limits.sessions", "99999999999999999999", "Enter a whole number from 1 to 9,007,199,254,740,991."],
    ["server", "limits.agent_processes", "-1", "Enter a whole number, 0 or more."],
    ["server", "limits.login_failures_per_minute", "5000000000", "Enter a whole number from 1 to 4,294,967,295."],
    ["budgets", "budget.warn_at", "80", "Enter a fraction above 0 and at most 1, such as 0.8."],
    ["budgets", "budget.warn_at", "80 %", "Enter a fraction above 0 and at most 1, such as 0.8."],
    ["budgets", "budget.day_cost_usd", "-1", "Enter a number, 0 or more."],
  ];
  for (const [section, key, typed, words] of cases) {
    await page.goto(`${deck.server.url}/settings.html#${section}`);
    const row = setting(page, key);
    await row.getByRole("textbox").fill(typed);
    await waitForText(row.locator(".field-problem"), words);
    await row.getByRole("button", { name: "Cancel" }).click();
  }
});

test("what people read is written as they write it", async () => {
  const page = await openSettings(deck, "server");
  const [sizes, texts] = await page.evaluate(async () => {
    const { bytes, capitalized, withHint } = await import("/lib/format.js");
    const [KB, MB] = [1024, 1024 ** 2];
    return [
      [0, 1023, KB, MB - 1, MB, 1.5 * MB, 21 * MB, 1024 * MB - 1, 1024 * MB, 2048 * MB].map(bytes),
      [capitalized("expected a number"), capitalized("server.bind = x"), capitalized("base_url is x"), capitalized(""), withHint({ message: "it ended: exit status: 1", hint: "run it again" }), withHint({ message: "Done." })],
    ];
  });
  assert.deepEqual(sizes, ["0 bytes", "1023 bytes", "1 KB", "1 MB", "1 MB", "1.5 MB", "21 MB", "1 GB", "1 GB", "2 GB"]);
  assert.deepEqual(texts, ["Expected a number", "server.bind = x", "base_url is x", "", "it ended: exit status: 1. Run it again", "Done."]);
  await waitForText(setting(page, "limits.snapshot_bytes").locator(".control-unit"), "= 2 GB");
});

test("a switch is saved at once, and counts at once", async () => {
  const page = await openSettings(deck, "permissions");
  const row = setting(page, "permissions.allow_reads");
  const box = row.getByRole("switch", { name: "Reads without asking" });
  assert.equal(await box.isChecked(), true);
  await box.click();
  await waitForText(row.locator(".setting-state"), "Saved");
  await fileSays(deck.server, "allow_reads = false");
  await row.getByRole("button", { name: /Reset/ }).click();
  await waitFor(() => box.isChecked(), "the default");
});

test("sizes take units, and what is emptied is removed", async () => {
  const page = await openSettings(deck, "server");
  const size = setting(page, "limits.prompt_bytes");
  await waitForText(size.locator(".control-unit"), "= 1 MB");
  await size.getByRole("textbox").fill("2 MB");
  await size.getByRole("textbox").press("Enter");
  await fileSays(deck.server, "prompt_bytes = 2097152");
  await waitForText(size.locator(".control-unit"), "= 2 MB");
  const hosts = setting(page, "server.allowed_hosts");
  await hosts.getByRole("textbox").fill("a.example\n\n b.example ");
  await hosts.getByRole("button", { name: "Save" }).click();
  await fileSays(deck.server, 'allowed_hosts = ["a.example", "b.example"]');
  // Then the box has what was saved.
  await waitForText(hosts.locator(".setting-state"), /^Saved/);
  await hosts.getByRole("textbox").fill("");
  await hosts.getByRole("textbox").press("Control+Enter");
  await waitForText(hosts.locator(".layer"), "Default");
  assert.doesNotMatch(await settingsFile(deck.server), /allowed_hosts/);
});

test("what is typed while an earlier value is being saved stays, and is saved too", async () => {
  const page = await openSettings(deck, "server");
  const size = setting(page, "limits.header_bytes");
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await page.route(/\/api\/settings$/, async (route) => {
    const isSaving = route.request().method() === "PATCH" && !route.request().postDataJSON().dryRun;
    const answer = await route.fetch();
    if (isSaving) await held;
    await route.fulfill({ response: answer });
  });
  await size.getByRole("textbox").fill("100 KB");
  await size.getByRole("textbox").press("Enter");
  await fileSays(deck.server, "header_bytes = 102400");
  await size.getByRole("textbox").fill("200 KB");
  await size.getByRole("textbox").press("Enter");
  release();
  await fileSays(deck.server, "header_bytes = 204800");
  await waitForText(size.locator(".setting-state"), /^Saved/);
  assert.equal(await size.getByRole("button", { name: "Save" }).isVisible(), false);
  await size.getByRole("button", { name: /Reset/ }).click();
  await waitForText(size.locator(".layer"), "Default");
});

test("leaving the page asks while something is typed and not saved, and only then", async () => {
  const asked = [];
  // Follows the link, or reloads, and gives the answer if the browser asks.
  const leave = async (page, { by, answer }) => {
    page.once("dialog", async (dialog) => {
      asked.push(dialog.type());
      await (answer === "stay" ? dialog.dismiss() : dialog.accept());
    });
    await (by === "reload" ? page.reload() : page.locator("#home-link").click());
  };
  const parts = [
    ["server", async (page) => {
      const row = setting(page, "limits.queued_prompts");
      await row.getByRole("textbox").fill("50");
      return { save: row.getByRole("button", { name: "Save" }), saved: row.locator(".setting-state", { hasText: "Saved" }) };
    }],
    ["permissions", async (page) => {
      await page.getByRole("button", { name: "Add rule" }).click();
      await page.locator(".rule-row .rule-tool").fill("left-*");
      return { save: page.getByRole("button", { name: "Save rules" }), saved: page.locator(".rules-editor .setting-state", { hasText: "Saved" }) };
    }],
    ["models", async (page) => {
      await page.getByRole("button", { name: "Add provider" }).click();
      const form = page.locator(".settings-section:visible .entry-form");
      await form.getByLabel("Name", { exact: true }).fill("left");
      await form.getByLabel("Address", { exact: true }).fill("http://localhost:1/v1");
      return { save: form.getByRole("button", { name: "Save" }), saved: page.locator('.entry[data-name="left"]') };
    }],
    ["tokens", async (page) => {
      await page.getByLabel("Name", { exact: true }).fill("left");
      await page.getByLabel(/^view/).check();
      return { save: page.getByRole("button", { name: "Create token" }), saved: page.locator(".token-secret") };
    }],
  ];
  for (const [section, type] of parts) {
    const page = await openSettings(deck, section);
    const { save, saved } = await type(page);
    asked.length = 0;
    await leave(page, { by: "link", answer: "stay" });
    await waitFor(() => asked.length === 1, "the question");
    assert.deepEqual(asked, ["beforeunload"], section);
    await save.click();
    await saved.waitFor();
    await leave(page, { by: "link", answer: "leave" });
    await page.waitForURL(/index\.html/);
    assert.equal(asked.length, 1, `${section}: nothing is asked once it is saved`);
  }
  const page = await openSettings(deck, "server");
  const box = setting(page, "limits.queued_prompts").getByRole("textbox");
  await box.click();
  await box.fill("51");
  await leave(page, { by: "reload", answer: "leave" });
  await waitFor(() => asked.length === 2, "the question before a reload");
  await waitFor(async () => (await box.inputValue()) === "50", "what was saved");
  await box.fill("52");
  await box.press("Escape");
  await leave(page, { by: "link", answer: "leave" });
  await page.waitForURL(/index\.html/);
  assert.equal(asked.length, 2, "what was taken back is not asked about");
  await deck.server.call("PATCH", "settings", { changes: { "limits.queued_prompts": null, "permissions.rules": null, "providers.left": null } });
});

test("what needs a restart says so, at the setting and above", async () => {
  const page = await openSettings(deck, "server");
  const row = setting(page, "log.filter");
  await waitForText(row.locator(".setting-meta"), /Changes need a restart/);
  await row.getByRole("combobox").fill("debug");
  await row.getByRole("combobox").press("Enter");
  await waitForText(row.locator(".setting-state"), "Saved. Restart the server to use it.");
  await waitForText(row.locator(".setting-meta"), /Waiting for a restart/);
  await waitForText(page.locator(".restart-note"), "1 change needs a server restart: log.filter");
  await row.getByRole("button", { name: /Reset/ }).click();
  await page.locator(".restart-note").waitFor({ state: "detached" });
});

test("what a variable, a flag or a project sets is explained", async () => {
  await writeFile(path.join(deck.server.folder, ".flightdeck.toml"), '[sessions]\nmodel = "<b>demo</b>"\n');
  const page = await openSettings(deck, "agents");
  const effort = setting(page, "sessions.effort");
  await waitForText(effort.locator(".layer"), /^Environment/);
  assert.equal(await effort.getByRole("combobox").isDisabled(), true);
  await waitForText(effort.locator(".setting-reason"), /environment variable FLIGHTDECK_SESSIONS_EFFORT, which overrides your file/);
  assert.equal(await effort.getByRole("button", { name: /Reset/ }).count(), 0);
  await page.getByRole("button", { name: "Reload" }).click();
  const model = setting(page, "sessions.model");
  await waitForText(model.locator(".layer"), /^Project/);
  await waitForText(model.locator(".setting-reason"), /\.flightdeck\.toml sets <b>demo<\/b> for sessions in its folder/);
  assert.equal(await model.getByRole("combobox").isDisabled(), false, "the own file counts in other folders");
  await page.goto(`${deck.server.url}/settings.html#server`);
  await waitForText(setting(page, "server.port").locator(".setting-reason"), /Set by the flag --port/);
  await writeFile(path.join(deck.server.folder, ".flightdeck.toml"), "");
});

test("a choice that gives much away warns before it is saved", async () => {
  const page = await openSettings(deck, "permissions");
  const row = setting(page, "permissions.default");
  await row.getByRole("combobox").selectOption("allow-all");
  await waitForText(row.locator(".field-warning"), "Agents run every command without asking you.");
  assert.doesNotMatch(await settingsFile(deck.server), /allow-all/, "nothing is saved before Save");
  await row.getByRole("button", { name: "Cancel" }).click();
  await row.locator(".field-warning").waitFor({ state: "hidden" });
});

test("a search finds settings in all sections, by words of their names, texts and keys", async () => {
  const page = await openSettings(deck);
  await page.keyboard.press("/");
  await page.keyboard.type("unattended");
  await setting(page, "permissions.unattended_timeout").waitFor();
  assert.equal(await page.locator(".setting:visible").count(), 1);
  await page.locator("#settings-search").fill("budget.day_tokens");
  await setting(page, "budget.day_tokens").waitFor();
  await page.locator("#settings-search").fill("no such setting");
  await waitForText(page.locator("#search-empty"), "No setting matches.");
  await page.keyboard.press("Escape");
  await setting(page, "sessions.runtime").waitFor();
});

test("? shows the keys of this page, and gives the focus back", async () => {
  const page = await openSettings(deck, "server");
  const box = setting(page, "limits.sessions").getByRole("textbox");
  await box.fill("");
  await box.press("?");
  assert.equal(await box.inputValue(), "?", "in a box it is a character");
  await box.press("Escape");
  const link = page.locator('#section-list a[href="#server"]');
  await link.focus();
  await page.keyboard.press("?");
  const panel = page.locator("#side-panel");
  await waitForText(panel.locator("#side-panel-title"), "Keyboard shortcuts");
  const keys = await panel.locator("dt").allTextContents();
  for (const key of ["/", "?", "Escape", "Ctrl+K", "Alt+I", "Alt+A", "Alt+H"]) assert.ok(keys.includes(key), `${key} in ${keys}`);
  for (const key of ["Ctrl+.", "j k", "Alt+O", "Alt+M", "Alt+B"]) assert.ok(!keys.includes(key), `${key} does nothing here`);
  await checkAccessibility(page, "keys of the settings page");
  await page.keyboard.press("?");
  await panel.waitFor({ state: "hidden" });
  assert.equal(await link.evaluate((one) => one === document.activeElement), true);
  await page.keyboard.press("Control+k");
  await page.keyboard.type(">keys");
  await page.keyboard.press("Enter");
  await waitForText(panel.locator("#side-panel-title"), "Keyboard shortcuts");
});

test("the choices of this browser are kept in it", async () => {
  const page = await openSettings(deck, "appearance");
  await page.locator("#theme-select").selectOption("dark");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.locator("#full-height-switch").click();
  await page.locator("#times-select").selectOption("exact");
  const kept = () => page.evaluate(() => ["theme", "fullHeight", "times"].map((name) => localStorage.getItem(`flightdeck.${name}`)));
  assert.deepEqual(await kept(), ["dark", "true", "exact"]);
  await page.reload();
  await page.locator("#section-appearance[data-built]").waitFor();
  assert.equal(await page.locator("#theme-select").inputValue(), "dark");
  assert.equal(await page.locator("#full-height-switch").isChecked(), true);
  assert.equal(await page.locator("#times-select").inputValue(), "exact");
});

test("on a phone a box chooses the section, and nothing is wider than the screen", async () => {
  const page = await openSettings(deck, "agents", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  assert.equal(await page.locator("#section-list").isVisible(), false);
  for (const section of SECTIONS) {
    await page.locator("#section-select").selectOption(section);
    await page.locator(`#section-${section}[data-built]`).waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), section);
    await page.locator(`#section-${section} .setting-group`).last().evaluate((last) => last.scrollIntoView());
    assert.equal(await page.locator("#top-bar").evaluate((bar) => bar.getBoundingClientRect().top), 0, `${section}: only the part with the settings scrolls`);
    const small = await page.locator("#settings-ui").locator("button:visible, select:visible, input:visible:not([type=checkbox])").evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().height < 40).map((one) => one.outerHTML));
    assert.deepEqual(small, [], section);
  }
});

test("beside the sidebar and the inbox, settings stand below each other instead of being squeezed", async () => {
  const page = await openSettings(deck, "server", { viewport: { width: 1280, height: 800 } });
  const words = page.locator('.setting[data-key="server.auth"] .setting-words');
  const body = page.locator('.setting[data-key="server.auth"] .setting-body');
  const places = async () => [await words.boundingBox(), await body.boundingBox()];
  const [left, right] = await places();
  assert.ok(right.x > left.x + left.width, "side by side");
  assert.ok(await page.locator("#section-list").isVisible());
  await page.locator("#sidebar-button:enabled").click();
  await page.locator("#inbox-button").click();
  await page.locator("#side-panel").waitFor();
  const [above, below] = await places();
  assert.ok(below.y >= above.y + above.height && below.x === above.x, "below each other");
  assert.ok(below.width > 300, `wide enough: ${below.width}`);
  assert.ok(await page.locator("#section-select").isVisible());
  assert.ok(await page.locator("#settings-part").evaluate((part) => part.scrollWidth <= part.clientWidth));
});

test("a port is no amount: it has no separator", async () => {
  const page = await openSettings(deck, "server");
  await waitForText(setting(page, "server.port").locator(".setting-meta"), /Default: 8888(?!\d)/);
});

test("every section is accessible, in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await openSettings(deck, "agents", { colorScheme });
    for (const section of SECTIONS) {
      await page.locator(`#section-list a[href="#${section}"]`).click();
      await page.locator(`#section-${section}[data-built]`).waitFor();
      await page.waitForFunction((id) => !/Loading …/.test(document.getElementById(`section-${id}`).innerText), section);
      await checkAccessibility(page, `${section} ${colorScheme}`);
    }
  }
});
