// The pages with the real Copilot, on a scripted model.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { agentsFolder, blocks, choose, openSession, openSetup, reconnect, send, shown, startModel, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

/** The model's script: what the last prompt asks for, then an answer about what came of it. */
function answer(messages) {
  const last = messages.at(-1);
  const prompt = messages.findLast(({ role }) => role === "user");
  const text = typeof prompt?.content === "string" ? prompt.content : JSON.stringify(prompt?.content ?? "");
  if (last?.role === "tool") return { text: "## Done\n\nThe command ran:\n\n```sh\necho it works\n```\n" };
  if (last?.role === "user" && /ask: colour/.test(text)) {
    return { tools: [{ name: "ask_user", arguments: { question: "Which colour?", choices: ["red", "blue"], allow_freeform: true } }] };
  }
  if (/recall everything/.test(text)) return { text: `I remember: ${remembered(messages).join(", ")}` };
  // ` ;; ` separates commands that run at once.
  const run = /run: (.*?)(?:$|\\n|<|")/m.exec(text)?.[1];
  const create = /create: (\S+?)(?:$|\s|\\n|<|")/m.exec(text)?.[1];
  if (run) return { text: "I will run a command.", tools: run.split(" ;; ").map((command) => ({ name: "bash", arguments: { command, description: "Run it" } })) };
  if (create) return { text: "I will make a file.", tools: [{ name: "create", arguments: { path: create, file_text: "first line\nsecond line\n" } }] };
  return { text: "Hello from the **scripted** model." };
}

/** What the conversation asked the model to remember. */
function remembered(messages) {
  const said = messages.filter(({ role }) => role === "user").map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));
  return said.flatMap((text) => /remember: (\w+)/.exec(text)?.[1] ?? []);
}

const model = await startModel(answer);
after(() => model.close());

const copilotHome = path.join(os.tmpdir(), `flightdeck-browser-copilot-${process.pid}`);

const deck = useDeck({
  environment: {
    COPILOT_CLI_PATH: path.join(agentsFolder, "node_modules/@github/copilot-linux-x64/copilot"),
    COPILOT_CACHE_HOME: path.join(agentsFolder, "cache"),
    COPILOT_HOME: copilotHome,
    COPILOT_PROVIDER_BASE_URL: model.url,
    COPILOT_PROVIDER_API_KEY: "sk-scripted",
    COPILOT_MODEL: "scripted-model",
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
  },
});

test("from the set-up to an answer of the real agent", async () => {
  const page = await openSetup(deck);
  await page.locator("#agents > summary").click();
  await page.locator('.runtime-row[data-runtime="copilot"] .state-word', { hasText: /^Ready$/ }).waitFor();
  await page.locator("#working-dir").fill(deck.server.workFolder);
  await page.locator("#start-button").click();
  await shown(page);
  await turn(page, "say hello");
  await waitForText(blocks(page, "Message").locator(".rendered-content strong"), "scripted");
  await waitForText(page.locator(".turn-end"), /model call/);
});

test("a command is allowed on the page and really runs; its output is in the block", async () => {
  const id = await deck.server.session({ model: "scripted-model" });
  const page = await openSession(deck, id);
  await send(page, "run: echo it works > made.txt && cat made.txt");
  await waitForText(page.locator(".request-detail"), "echo it works > made.txt && cat made.txt");
  await choose(page, 1);
  await waitForText(page.locator(".request-verdict"), "Allowed once");
  await waitFor(() => page.locator("#send-button").isEnabled(), "the end of the turn");
  assert.equal(await readFile(path.join(deck.server.workFolder, "made.txt"), "utf8"), "it works\n");
  const tool = blocks(page, "Tool").filter({ hasText: "bash" });
  await waitForText(tool.locator(".message-block-summary"), /^echo it works/);
  await tool.locator(".message-block-header").click();
  await waitForText(tool.locator(".terminal"), /it works/);
  await waitForText(blocks(page, "Message").last().locator("h2"), "Done");
});

test("a file is shown as a diff before and after it is written", async () => {
  const id = await deck.server.session({ model: "scripted-model" });
  const page = await openSession(deck, id);
  const file = path.join(deck.server.workFolder, "note.txt");
  await send(page, `create: ${file}`);
  await page.locator(".request-block.waiting .diff-added").first().waitFor();
  assert.match(await page.locator(".request-block.waiting").textContent(), /first line/);
  await choose(page, 1);
  await waitFor(() => page.locator("#send-button").isEnabled(), "the end of the turn");
  assert.equal(await page.locator(".request-about").textContent(), "create note.txt +2");
  assert.equal(await readFile(file, "utf8"), "first line\nsecond line\n");
  const tool = blocks(page, "Tool").filter({ hasText: "create" });
  await tool.locator(".message-block-header").click();
  await tool.locator(".diff-added, .code-block").first().waitFor();
});

test("a denied command does not run, and a turn is interrupted", async () => {
  const id = await deck.server.session({ model: "scripted-model" });
  const page = await openSession(deck, id);
  await send(page, "run: touch never.txt");
  await page.locator(".request-choice").first().waitFor();
  await page.locator("#interrupt-button").click();
  await waitFor(() => page.locator("#send-button").isEnabled(), "the end of the turn");
  await waitForText(page.locator(".request-verdict"), "Cancelled");
  await assert.rejects(readFile(path.join(deck.server.workFolder, "never.txt")));
});

/** Waits until the agent has written something down in one of its sessions. */
async function recorded(text) {
  const folder = path.join(copilotHome, "session-state");
  await waitFor(async () => {
    for (const session of await readdir(folder)) {
      const events = await readFile(path.join(folder, session, "events.jsonl"), "utf8").catch(() => "");
      if (events.includes(text)) return true;
    }
    return false;
  }, `${text} in the agent's records`);
}

/** Kills the server and starts it again; the page catches up. */
async function killAndRestart(page) {
  deck.expectConsoleErrors(/Failed to load resource|net::ERR/);
  await deck.server.kill();
  await page.locator('[data-banner="connection"]').waitFor();
  await deck.server.startAgain();
  await reconnect(page);
  await waitForText(page.locator("#session-state"), "Needs your input");
}

test("two requests that were open at a kill of the server are both answered on the page, and each command runs once", async () => {
  const id = await deck.server.session({ model: "scripted-model" });
  const page = await openSession(deck, id);
  const commands = ["echo first >> first.txt", "echo second >> second.txt"];
  await send(page, `run: ${commands.join(" ;; ")}`);
  const waiting = page.locator(".request-block.waiting");
  await waitFor(async () => (await waiting.count()) === 2, "both requests");
  for (const command of commands) await recorded(`"fullCommandText":"${command}"`);
  await killAndRestart(page);
  assert.deepEqual((await waiting.locator(".request-detail").allTextContents()).sort(), commands);
  // What has just appeared takes no answer, so the buttons are waited for.
  await waiting.first().getByRole("button", { name: "Allow once" }).click();
  await waitFor(async () => (await waiting.count()) === 1, "the first answer");
  await waiting.first().getByRole("button", { name: "Allow once" }).click();
  await waitForText(blocks(page, "Message").last().locator("h2"), "Done");
  await waitFor(() => page.locator("#send-button").isEnabled(), "the end of the turn");
  assert.deepEqual(await page.locator(".request-verdict").allTextContents(), ["Allowed once", "Allowed once"]);
  for (const name of ["first", "second"]) assert.equal(await readFile(path.join(deck.server.workFolder, `${name}.txt`), "utf8"), `${name}\n`);
  assert.equal(await blocks(page, "User").count(), 1, "the same turn");
});

test("a question that was open at a kill of the server is answered on the page, and the work continues", async () => {
  const id = await deck.server.session({ model: "scripted-model" });
  const page = await openSession(deck, id);
  await send(page, "ask: colour");
  await waitForText(page.locator(".request-question"), "Which colour?");
  await recorded("Which colour?");
  await killAndRestart(page);
  await waitForText(page.locator('.session-notice[data-kind="request-kept"]'), /Answer the request to continue/);
  await page.locator(".request-block.waiting").getByRole("button", { name: "blue" }).click();
  await waitForText(page.locator(".request-about"), /— blue$/);
  await waitForText(blocks(page, "User").last(), /Which colour\?[\s\S]*blue/);
  await waitForText(blocks(page, "Message").last().locator(".rendered-content strong"), "scripted");
  await waitFor(() => page.locator("#send-button").isEnabled(), "the end of the turn");
  assert.equal((await deck.server.log(id)).filter(({ response }) => response.callback === "onQuestionAnswered").length, 1);
});

for (const ending of ["kill", "stop"]) {
  test(`a request that was open at the ${ending} of the server is answered on the page afterwards, and the command runs once`, async () => {
    deck.expectConsoleErrors(/Failed to load resource|net::ERR/);
    const id = await deck.server.session({ model: "scripted-model" });
    const page = await openSession(deck, id);
    const command = `echo ${ending} >> ${ending}.txt`;
    await send(page, `run: ${command}`);
    await waitForText(page.locator(".request-detail"), command);
    await recorded(`"fullCommandText":"${command}"`);
    await deck.server[ending]();
    await page.locator('[data-banner="connection"]').waitFor();
    await choose(page, 1);
    await waitForText(page.locator(".request-problem"), /did not respond/);
    await deck.server.startAgain();
    await reconnect(page);
    await waitForText(page.locator("#session-state"), "Needs your input");
    await page.locator(".request-problem").waitFor({ state: "hidden" });
    await choose(page, 1);
    await waitForText(page.locator(".request-verdict"), "Allowed once");
    await waitForText(blocks(page, "Message").last().locator("h2"), "Done");
    assert.equal(await readFile(path.join(deck.server.workFolder, `${ending}.txt`), "utf8"), `${ending}\n`);
    assert.equal(await blocks(page, "User").count(), 1, "the same turn");
  });
}

test("a fork of the real agent remembers what was said before the turn, and nothing after it", async () => {
  const id = await deck.server.session({ model: "scripted-model" });
  for (const text of ["remember: apple", "remember: pear", "remember: plum"]) await deck.server.turn(id, text);
  const page = await openSession(deck, id);
  await waitFor(async () => (await page.locator(".turn-end").count()) === 3, "all turns");
  await page.locator(".can-fork .turn-end").nth(1).hover();
  await page.locator(".fork-button").nth(1).click();
  await page.waitForFunction((source) => new URLSearchParams(location.search).get("session") !== source, id);
  await waitForText(page.locator('.session-notice[data-kind="forked"]'), new RegExp(`Forked from ${id}`));
  assert.deepEqual(await blocks(page, "User").locator(".message-block-body").allTextContents(), ["remember: apple", "remember: pear"]);
  await turn(page, "recall everything");
  await waitForText(blocks(page, "Message").last(), /I remember: apple, pear\s*$/);
  // The source goes on as if nothing had happened.
  const { text } = await deck.server.turn(id, "recall everything");
  assert.match(text, /I remember: apple, pear, plum\s*$/);
});
