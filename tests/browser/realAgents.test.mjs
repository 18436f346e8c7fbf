// Every agent is started from the home page: the real Copilot over each connection and the real Claude Code, on a scripted
// model, and an ACP agent from the configuration.

import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { agentsFolder, blocks, openSetup, shown, startModel, useDeck, waitFor, waitForText } from "./support/index.mjs";

const model = await startModel(() => ({ text: "Hello from the **scripted** model." }));
after(() => model.close());

const scratch = path.join(os.tmpdir(), `flightdeck-browser-agents-${process.pid}`);
after(() => rm(scratch, { recursive: true, force: true, maxRetries: 5 }));
const fakeAcp = path.resolve(import.meta.dirname, "../agents/fake_acp.mjs");

const deck = useDeck({
  config: `[acp.fake]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([fakeAcp, path.join(scratch, "acp")])}\n`,
  environment: {
    COPILOT_CLI_PATH: path.join(agentsFolder, "node_modules/@github/copilot-linux-x64/copilot"),
    COPILOT_CACHE_HOME: path.join(agentsFolder, "cache"),
    COPILOT_HOME: path.join(scratch, "copilot"),
    COPILOT_PROVIDER_BASE_URL: model.url,
    COPILOT_PROVIDER_API_KEY: "sk-scripted",
    COPILOT_MODEL: "scripted-model",
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
    CLAUDE_CLI_PATH: path.join(agentsFolder, "node_modules/@anthropic-ai/claude-code/bin/claude.exe"),
    CLAUDE_CONFIG_DIR: path.join(scratch, "claude"),
    ANTHROPIC_BASE_URL: model.root,
    ANTHROPIC_API_KEY: "sk-ant-scripted-0123456789",
    CLAUDE_CODE_MAX_RETRIES: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    IS_SANDBOX: "1",
  },
});

/** Chooses an agent and a connection on the home page, starts with a prompt, and gives the session's details. */
async function startWith({ agent, connection, modelName }) {
  const page = await openSetup(deck);
  await page.locator(`#runtime-select option[value="${agent}"]`).waitFor({ state: "attached" });
  await page.locator("#runtime-select").selectOption(agent);
  if (connection) {
    await page.locator("#more-options-button").click();
    await page.locator("#connection-select").selectOption(connection);
  }
  if (modelName) await page.locator("#model-name").fill(modelName);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  await page.locator("#working-dir").fill(deck.server.workFolder);
  await page.locator("#prompt-box").fill("say hello");
  await page.locator("#start-button").click();
  await shown(page);
  await page.locator(".turn-end").waitFor();
  return { page, details: await deck.server.call("GET", `copilot/session/${new URL(page.url()).searchParams.get("session")}`) };
}

for (const connection of ["copilot", "copilot-acp", "copilot-headless"]) {
  test(`GitHub Copilot answers over ${connection}`, async () => {
    const { page, details } = await startWith({ agent: "copilot", connection });
    assert.deepEqual([details.runtime, details.model], [connection, "scripted-model"]);
    await waitForText(blocks(page, "Message").locator(".rendered-content strong"), "scripted");
  });
}

test("Claude Code answers", async () => {
  const { page, details } = await startWith({ agent: "claude" });
  assert.equal(details.runtime, "claude");
  await waitForText(blocks(page, "Message").locator(".rendered-content strong"), "scripted");
});

test("an ACP agent of the configuration answers, with a model that nobody has listed yet", async () => {
  const { page, details } = await startWith({ agent: "acp:fake", modelName: "large" });
  assert.deepEqual([details.runtime, details.model], ["acp:fake", "large"]);
  await waitForText(blocks(page, "Message"), /ECHO\[say hello\]/);
  // It has listed its models now.
  const again = await openSetup(deck);
  await again.locator("#runtime-select").selectOption("acp:fake");
  const names = await again.locator("#model-select option").evaluateAll((options) => options.map(({ value }) => value));
  assert.ok(names.includes("acp:fake/small") && names.includes(""), names.join());
});
