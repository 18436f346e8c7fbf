// The settings page: permission rules, rules of folders, budgets and tokens.

import assert from "node:assert/strict";
import test from "node:test";
import { checkAccessibility, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { fileSays, openSettings, setting, settingsFile } from "./support/settingsPage.mjs";

const deck = useDeck();

test("rules are added, ordered, saved together, and answer what waits", async () => {
  deck.expectConsoleErrors(/400/);
  const session = await deck.server.session();
  await deck.server.call("POST", `copilot/session/${session}/prompt`, { text: "permission" });
  const page = await openSettings(deck, "permissions");
  const editor = setting(page, "permissions.rules");
  await waitForText(editor.locator(".empty"), "No rules.");
  await editor.getByRole("button", { name: "Add rule" }).click();
  await editor.getByRole("button", { name: "Save rules" }).click();
  await waitForText(editor.locator(".field-problem"), "Each rule needs a tool name.");
  await editor.locator(".rule-tool").fill("write");
  await editor.locator(".rule-decision").selectOption("deny");
  await editor.getByRole("button", { name: "Add rule" }).click();
  await editor.locator(".rule-tool").nth(1).fill("shell");
  await editor.locator(".rule-decision").nth(1).selectOption("allow");
  await waitForText(editor.locator(".field-warning"), /lets agents run every command/);
  await editor.locator(".rule-prefix").nth(1).fill("git status");
  await editor.locator(".field-warning").waitFor({ state: "hidden" });
  await editor.locator(".rule-row").nth(1).getByRole("button", { name: "Move up" }).click();
  assert.equal(await editor.locator(".rule-tool").first().inputValue(), "shell");
  await editor.getByRole("button", { name: "Save rules" }).click();
  await waitForText(editor.locator(".setting-state"), "Saved");
  const { settings } = await deck.server.call("GET", "settings");
  const rules = () => settings.find(({ key }) => key === "permissions.rules").value;
  assert.deepEqual(rules(), [{ tool: "shell", decision: "allow", prefix: "git status" }, { tool: "write", decision: "deny" }]);
  await checkAccessibility(page, "rules");

  await editor.locator(".rule-prefix").first().fill("");
  await editor.getByRole("button", { name: "Save rules" }).click();
  await waitForText(editor.locator(".setting-state"), "Saved");
  await waitFor(async () => (await deck.server.call("GET", `copilot/session/${session}`)).state === "ready", "the request to be answered by the rule");
  await editor.getByRole("button", { name: "Remove the rule" }).first().click();
  await editor.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await editor.locator(".rule-row").count(), 2);
  await editor.getByRole("button", { name: "Reset the rules" }).click();
  await waitForText(editor.locator(".empty"), "No rules.");
  await waitFor(async () => !/rules/.test(await settingsFile(deck.server)), "the rules are gone from the file");
});

test("a rule that is changed while another is being saved stays as it was typed", async () => {
  const page = await openSettings(deck, "permissions");
  const editor = setting(page, "permissions.rules");
  await editor.getByRole("button", { name: "Add rule" }).click();
  await editor.locator(".rule-tool").fill("write");
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route(/\/api\/settings$/, async (route) => {
    const request = route.request();
    if (request.method() === "PATCH" && !request.postDataJSON().dryRun) await released;
    await route.continue();
  });
  await editor.getByRole("button", { name: "Save rules" }).click();
  await editor.getByRole("button", { name: "Add rule" }).click();
  await editor.locator(".rule-tool").nth(1).fill("shell");
  release();
  // It can be pressed again as soon as the first rule is saved.
  await editor.getByRole("button", { name: "Save rules" }).click();
  await waitForText(editor.locator(".setting-state"), "Saved");
  const { settings } = await deck.server.call("GET", "settings");
  assert.deepEqual(settings.find(({ key }) => key === "permissions.rules").value, [{ tool: "write", decision: "ask" }, { tool: "shell", decision: "ask" }]);
  await editor.getByRole("button", { name: "Reset the rules" }).click();
  await waitForText(editor.locator(".empty"), "No rules.");
});

test("what was allowed for good in a folder is listed and taken back", async () => {
  const session = await deck.server.session();
  await deck.server.call("POST", `copilot/session/${session}/prompt`, { text: "permission" });
  const asked = async () => (await deck.server.log(session)).find(({ response }) => response.callback === "onPermissionRequested");
  const { response } = await waitFor(asked, "a request");
  await deck.server.call("POST", `copilot/session/${session}/permission/${response.requestId}`, { decision: "allow-always", scope: "folder" });
  const page = await openSettings(deck, "permissions");
  const list = page.locator(".folder-rule-list");
  await waitForText(list.locator(".folder-name"), deck.server.workFolder);
  await list.getByRole("button", { name: /Remove the rule: allow shell/ }).click();
  await waitForText(list, "Nothing is always allowed in any folder.");
  assert.deepEqual((await deck.server.call("GET", "folder-rules")).rules, []);
});

test("a limit of a day shows what was used today", async () => {
  const session = await deck.server.session();
  await deck.server.turn(session, "usage 500 350");
  const page = await openSettings(deck, "budgets");
  const row = setting(page, "budget.day_tokens");
  await waitForText(row.locator(".setting-extra"), "Today: 850");
  await row.getByRole("textbox").fill("1,000");
  await row.getByRole("textbox").press("Enter");
  await fileSays(deck.server, "day_tokens = 1000");
  await waitForText(row.locator(".setting-extra"), "Today: 850 of 1,000 (85 %) – nearly used up");
  assert.equal(await row.locator("meter").count(), 1);
  await waitForText(setting(page, "budget.day_cost_usd").locator(".setting-extra"), "Today: not reported");
  await setting(page, "budget.day_cost_usd").getByRole("textbox").fill("2,50");
  await setting(page, "budget.day_cost_usd").getByRole("textbox").press("Enter");
  await fileSays(deck.server, "day_cost_usd = 2.5");
});

test("a token is created, shown once, used and revoked", async () => {
  const page = await openSettings(deck, "tokens");
  await waitForText(page.locator(".token-list"), "No tokens.");
  await page.getByRole("button", { name: "Create token" }).click();
  await waitForText(page.locator(".token-form .field-problem"), "Choose at least one scope.");
  await page.getByLabel("Name").fill("<u>script</u>");
  await page.getByLabel(/^admin/).check();
  await waitForText(page.locator(".token-form .field-warning"), /everything that you can/);
  await page.getByLabel(/^admin/).uncheck();
  await page.getByLabel(/^view/).check();
  await page.getByLabel("Expires after").selectOption("7d");
  await page.getByRole("button", { name: "Create token" }).click();
  const secret = await page.locator(".token-secret").textContent();
  await waitForText(page.locator(".token-result"), /Token <u>script<\/u> created.*won't be shown again/);
  // The button says so for a moment only.
  const said = page.evaluate(
    () =>
      new Promise((resolve) => {
        const isSaid = ({ target }) => target.matches(".copied, .not-copied");
        new MutationObserver((changes) => changes.some(isSaid) && resolve(true)).observe(document.querySelector(".token-result"), { subtree: true, attributeFilter: ["class"] });
      }),
  );
  await page.locator(".token-result").getByRole("button", { name: "Copy" }).click();
  assert.ok(await said);
  const call = () => fetch(`${deck.server.url}/api/runtimes`, { headers: { authorization: `Bearer ${secret}` } });
  assert.equal((await call()).status, 200);
  await page.reload();
  const row = page.locator(".entry[data-token]");
  await row.waitFor();
  assert.doesNotMatch(await page.content(), new RegExp(secret));
  await waitForText(row.locator(".entry-words"), /<u>script<\/u>.*view.*last used .*expires/);
  await row.getByRole("button", { name: /Revoke/ }).click();
  await page.locator("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.equal((await call()).status, 200);
  await row.getByRole("button", { name: /Revoke/ }).click();
  await page.locator("dialog").getByRole("button", { name: "Revoke" }).click();
  await waitForText(row.locator(".token-state"), "Revoked");
  assert.equal((await call()).status, 401);
});

test("the decision of a rule is not cut, on a desktop and on a phone", async () => {
  for (const context of [{ viewport: { width: 1280, height: 800 } }, { viewport: { width: 800, height: 800 } }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]) {
    const page = await openSettings(deck, "permissions", context);
    const editor = setting(page, "permissions.rules");
    await editor.getByRole("button", { name: "Add rule" }).click();
    const select = editor.locator(".rule-decision").last();
    assert.equal(await select.inputValue(), "ask", "what a new rule begins with");
    const [width, wanted] = await select.evaluate((one) => {
      const free = one.cloneNode(true);
      free.style.cssText = "position: absolute; width: max-content; max-width: none;";
      one.parentElement.append(free);
      const widths = [one.getBoundingClientRect().width, free.getBoundingClientRect().width];
      free.remove();
      return widths;
    });
    // Fonts of other systems are up to a tenth wider.
    assert.ok(width >= wanted * 1.1, `${width} px for ${wanted} px at ${context.viewport.width}`);
  }
});
