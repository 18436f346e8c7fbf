// The agent beside the request: a session keeps its own, and another one is for a new session.

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { checkAccessibility, openSession, useDeck, waitFor, waitForText } from "./support/index.mjs";

const script = path.resolve(import.meta.dirname, "../agents/fake_acp.mjs");
const MARKUP = "<b>fake</b>";
const deck = useDeck({
  config: `[acp."${MARKUP}"]\ncommand = "sh"\nargs = ["-c", 'exec node "$0" "$HOME/fake"', ${JSON.stringify(script)}]\n`,
});

const agentSwitch = (page) => page.locator("#composer-agent");
const textarea = (page) => page.locator("#request-textarea");

test("another agent is for a new session, with the same folder and what was written", async () => {
  const id = await deck.server.session({ runtime: "demo", workingDirectory: deck.server.workFolder });
  const page = await openSession(deck, id);
  await agentSwitch(page).waitFor();
  assert.equal(await agentSwitch(page).evaluate((select) => select.selectedOptions[0].text), "Demo (no AI)");
  assert.deepEqual(await agentSwitch(page).locator("optgroup").evaluateAll((groups) => groups.map(({ label }) => label)), ["In a new session"]);
  await checkAccessibility(page, "the composer");
  await textarea(page).fill("Tidy up");
  await agentSwitch(page).selectOption({ label: MARKUP });
  await page.locator("#start-button:enabled").waitFor();
  assert.equal(new URL(page.url()).search, "");
  assert.equal(await page.locator("#runtime-select").evaluate((select) => select.selectedOptions[0].text), MARKUP);
  assert.equal(await page.locator("#working-dir").inputValue(), deck.server.workFolder);
  assert.equal(await page.locator("#prompt-box").inputValue(), "Tidy up");
  assert.equal(await page.evaluate(() => document.activeElement.id), "prompt-box");
  await page.goBack();
  await agentSwitch(page).waitFor();
  assert.equal(await textarea(page).inputValue(), "Tidy up", "it stays here too");
  assert.equal(await agentSwitch(page).inputValue(), "", "the session keeps its agent");
  await agentSwitch(page).selectOption({ label: MARKUP });
  await page.locator("#start-button:enabled").waitFor();
  assert.equal(await page.locator("#prompt-box").inputValue(), "Tidy up", "once");
  await page.locator("#start-button").click();
  await page.waitForURL(/session=/);
  const started = new URL(page.url()).searchParams.get("session");
  assert.notEqual(started, id);
  const { runtime, workingDirectory } = await deck.server.call("GET", `copilot/session/${started}`);
  assert.deepEqual({ runtime, workingDirectory }, { runtime: `acp:${MARKUP}`, workingDirectory: deck.server.workFolder });
  await waitForText(page.locator(".user-prompt, .message-block").first(), /Tidy up/);
});

test("files stay with the session, and the start form says so until it is left", async () => {
  const id = await deck.server.session({ runtime: "demo", workingDirectory: deck.server.workFolder });
  const page = await openSession(deck, id);
  await agentSwitch(page).waitFor();
  await textarea(page).fill("Look at this");
  await page.locator("#attach-input").setInputFiles([{ name: "shot <b>.png", mimeType: "text/plain", buffer: Buffer.from("a") }]);
  await page.locator(".attachment").waitFor();
  await agentSwitch(page).selectOption({ label: MARKUP });
  await page.locator("#start-button:enabled").waitFor();
  const note = page.locator("#prompt-files-note");
  await waitForText(note, "A new session starts without files. What you attached stays with the session that you left: shot <b>.png.");
  await page.goBack();
  await agentSwitch(page).waitFor();
  await waitForText(page.locator(".attachment-name"), "shot <b>.png");
  await page.keyboard.press("Alt+h");
  await page.locator("#start-button:enabled").waitFor();
  assert.ok(await note.isHidden());
});

test("on a phone, and in a toolbar, the menu beside the request has the other agents", async () => {
  const id = await deck.server.session({ runtime: "demo", workingDirectory: deck.server.workFolder });
  const page = await openSession(deck, id, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const entries = page.locator("#composer-menu button:visible", { hasText: "New session with" });
  await agentSwitch(page).waitFor({ state: "attached" });
  assert.ok(await agentSwitch(page).isHidden());
  await textarea(page).fill("Tidy up");
  await page.locator("#composer-more-button").tap();
  // A tap becomes a click after it has returned.
  await entries.first().waitFor();
  assert.deepEqual(await entries.allTextContents(), [`New session with ${MARKUP}`]);
  await entries.tap();
  await page.locator("#start-button:enabled").waitFor();
  assert.equal(await page.locator("#runtime-select").evaluate((select) => select.selectedOptions[0].text), MARKUP);
  assert.equal(await page.locator("#prompt-box").inputValue(), "Tidy up");
  const wide = await openSession(deck, id);
  await agentSwitch(wide).waitFor();
  await wide.locator("#composer-more-button").click();
  await wide.locator("#composer-menu button:visible").first().waitFor();
  assert.equal(await wide.locator("#composer-menu button:visible", { hasText: "New session with" }).count(), 0, "the switch is there");
});

test("a key on the closed list of agents does not leave the session", async () => {
  const page = await openSession(deck, await deck.server.session({ runtime: "demo" }));
  for (const key of ["ArrowDown", "End", "<"]) {
    await agentSwitch(page).focus();
    await page.keyboard.press(key);
    await page.keyboard.press("Escape");
    assert.match(page.url(), /session=/, key);
    assert.equal(await agentSwitch(page).inputValue(), "", key);
  }
});

test("an agent that is not ready is not offered, and one agent alone is plain text", async () => {
  const page = await deck.openPage("/");
  await page.route("**/api/runtimes", async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    await route.fulfill({ response, json: { ...json, runtimes: json.runtimes.map((runtime) => ({ ...runtime, ready: runtime.capabilities.demo })) } });
  });
  await page.goto(`${deck.server.url}/?session=${await deck.server.session({ runtime: "demo" })}`);
  await page.locator("#composer-model:enabled").waitFor();
  await waitFor(async () => (await agentSwitch(page).count()) === 0, "no switch");
  await waitForText(page.locator(".agent-switch .switch-value"), "Demo (no AI)");
});
