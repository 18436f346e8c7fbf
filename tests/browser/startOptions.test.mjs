// "More" on the home page: connection, effort, permissions and the options of each agent, as the server describes them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const MARKUP = '<img src=x onerror="document.title=1">';

const SWITCH = (name, value, label) => ({ name, kind: "switch", default: value, label, hint: `About ${label}.` });
const OPTIONS = [
  SWITCH("autopilot", false, "Autopilot"),
  { name: "maxAutopilotContinues", kind: "count", label: "Most autopilot turns", hint: "How often." },
  SWITCH("disableBuiltinMcps", true, "Disable built-in MCP servers"),
  { name: "addDirs", kind: "list", label: "Additional folders", hint: "Folders." },
  { name: "provider", kind: "provider", label: "Provider", hint: "Where from.", choices: [{ value: "ollama", label: "ollama" }] },
  { name: "mcpServers", kind: "mcp-servers", label: "MCP servers", hint: "Tools.", choices: [{ value: "files", label: "files" }, { value: MARKUP, label: MARKUP }] },
  { name: "hologram", kind: "a kind of a later version", label: "Hologram", hint: "Unknown." },
];

const runtime = (name, more = {}) => ({
  name,
  agent: "copilot",
  title: "GitHub Copilot",
  connection: { name: name === "copilot" ? "SDK" : "Headless", hint: `How ${name} works.` },
  default: name === "copilot",
  ready: true,
  hint: "Ready.",
  capabilities: { permissions: name === "copilot", effortLevels: ["low", "high"], systemPrompt: "message" },
  options: name === "copilot" ? [{ name: "mode", kind: "choice", label: "Mode", hint: "How it works.", choices: [{ value: "plan", label: "Plan" }] }] : OPTIONS,
  login: { state: "logged-in", who: "somebody", canLogIn: true },
  ...more,
});

const BARE = { name: "acp:bare", agent: "acp:bare", title: MARKUP, default: false, ready: true, hint: MARKUP, capabilities: { permissions: true, effortLevels: [], systemPrompt: "none" }, options: [], login: { state: "unknown", canLogIn: false } };

const model = (of, id, more = {}) => ({ runtime: of, name: id.toUpperCase(), id, listedId: of === "copilot" ? id : `${of}/${id}`, listed: of === "copilot", multiplier: 1, hidden: false, provider: null, ...more });

/** A context whose agents are ours. `state` can be changed while it is used; `asked` collects what sessions are asked for. */
async function ourContext(state = {}) {
  const context = await deck.openContext();
  const asked = [];
  state.runtimes ??= [runtime("copilot"), runtime("copilot-headless"), BARE];
  state.models ??= [model("copilot", "one"), model("copilot", "secret", { hidden: true }), model("copilot-headless", "one"), model("copilot-headless", "two", { name: MARKUP })];
  state.lists ??= [{ runtime: "copilot", takesAnyName: false, agentChooses: false }, { runtime: "copilot-headless", takesAnyName: true, agentChooses: false }, { runtime: "acp:bare", takesAnyName: true, agentChooses: true }];
  await context.route(/\/api\/runtimes$/, (route) => route.fulfill({ json: { runtimes: state.runtimes, permissionMode: "ask" } }));
  await context.route(/\/api\/models(\?|$)/, (route) => route.fulfill({ json: { models: state.models, lists: state.lists, notes: [] } }));
  await context.route(/\/api\/copilot\/session$/, async (route) => {
    asked.push(route.request().postDataJSON());
    if (state.refusal) return route.fulfill({ status: 400, json: state.refusal });
    return route.fulfill({ status: 201, json: { sessionId: state.sessionId ?? (state.sessionId = await deck.server.session()) } });
  });
  return { context, asked };
}

async function open(context) {
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#home-sections").waitFor();
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  return page;
}

const option = (page, name) => page.locator(`[data-option="${name}"]`);

test("the connection is an advanced choice, and the options are those of the connection", async () => {
  const { context, asked } = await ourContext();
  const page = await open(context);
  assert.deepEqual(await page.locator("#runtime-select option").allTextContents(), ["GitHub Copilot", MARKUP]);
  assert.ok(await page.locator("#start-options").isHidden());
  await page.locator("#more-options-button").click();
  assert.deepEqual(await page.locator("#connection-select option").allTextContents(), ["SDK", "Headless"]);
  await waitForText(page.locator("#connection-hint"), "How copilot works.");
  await waitForText(page.locator("#options-kept"), "This browser remembers these choices for each connection.");
  assert.deepEqual(await option(page, "effort").locator("option").allTextContents(), ["Default", "low", "high"]);
  assert.equal(await option(page, "autopilot").count(), 0);
  await page.locator("#connection-select").selectOption("copilot-headless");
  assert.equal(await option(page, "mode").count(), 0);
  await option(page, "autopilot").getByRole("checkbox").check();
  await option(page, "maxAutopilotContinues").getByRole("spinbutton").fill("3");
  await option(page, "disableBuiltinMcps").getByRole("checkbox").uncheck();
  await option(page, "addDirs").getByRole("textbox").fill("/one\n\n /two ");
  await option(page, "effort").getByRole("combobox").selectOption("high");
  await option(page, "systemPrompt").getByRole("textbox").fill("Be brief.");
  await option(page, "permissionMode").getByRole("combobox").selectOption("folder");
  await option(page, "mcpServers").getByRole("checkbox", { name: "files" }).uncheck();
  assert.equal(await option(page, "hologram").count(), 0, "what nobody knows how to show is left out");
  await page.locator("#start-button").click();
  await waitFor(() => asked.length === 1, "the session");
  const [{ workingDirectory, ...body }] = asked;
  assert.ok(workingDirectory);
  assert.deepEqual(body, {
    runtime: "copilot-headless",
    model: "one",
    effort: "high",
    permissionMode: "folder",
    systemPrompt: "Be brief.",
    options: { autopilot: true, maxAutopilotContinues: 3, disableBuiltinMcps: false, addDirs: ["/one", "/two"], mcpServers: { files: null } },
  });
});

test("what was chosen is kept, said beside the button, and can be reset", async () => {
  const { context, asked } = await ourContext();
  const first = await open(context);
  assert.equal(await first.locator("#more-summary").textContent(), "");
  await first.locator("#more-options-button").click();
  await first.locator("#connection-select").selectOption("copilot-headless");
  await option(first, "permissionMode").getByRole("combobox").selectOption("allow-all");
  await option(first, "autopilot").getByRole("checkbox").check();
  await first.close();
  const page = await open(context);
  await waitForText(page.locator("#more-summary"), "Allow everything · Headless · Autopilot");
  assert.equal(await page.locator("#more-summary b.field-warning").textContent(), "Allow everything", "what is risky stands out");
  assert.ok(await page.locator("#start-options").isVisible(), "it stays open");
  await page.locator("#reset-options-button").click();
  await waitForText(page.locator("#more-summary"), "Headless");
  await page.locator("#connection-select").selectOption("copilot");
  assert.equal(await page.locator("#more-summary").textContent(), "");
  await page.locator("#start-button").click();
  await waitFor(() => asked.length === 1, "the session");
  assert.deepEqual(Object.keys(asked[0]), ["runtime", "model", "workingDirectory"], "nothing else is asked for");
});

test("a mode is explained, and differently where the agent cannot ask", async () => {
  const { context } = await ourContext();
  const page = await open(context);
  await page.locator("#more-options-button").click();
  const hint = option(page, "permissionMode").locator(".field-hint");
  await waitForText(hint, /You are asked before each action/);
  assert.equal(await option(page, "permissionMode").locator("option").first().textContent(), "Default: ask me");
  await option(page, "permissionMode").getByRole("combobox").selectOption("allow-all");
  await waitForText(hint, /without asking/);
  await page.locator("#connection-select").selectOption("copilot-headless");
  await waitForText(hint, /can't ask during a turn/);
  assert.deepEqual((await option(page, "permissionMode").locator("option").allTextContents()).slice(0, 2), ["Default: rules only", "Rules only"]);
});

test("the form shows what a session gets that chooses nothing, and sends only what differs", async () => {
  const defaults = { effort: "high", permissionMode: "allow-all", options: { disableBuiltinMcps: false, autopilot: true, maxAutopilotContinues: 7, addDirs: ["/a", "/b"], provider: "ollama" } };
  const lists = [{ runtime: "copilot", takesAnyName: false, agentChooses: false, default: "two" }, { runtime: "copilot-headless", takesAnyName: true, agentChooses: false, default: "my-own" }];
  const models = [model("copilot", "one"), model("copilot", "two"), model("copilot-headless", "one")];
  const { context, asked } = await ourContext({ runtimes: [runtime("copilot"), runtime("copilot-headless", { defaults })], models, lists });
  const page = await open(context);
  await waitFor(async () => (await page.locator("#model-select").inputValue()) === "two", "the model of the server");
  await page.locator("#more-options-button").click();
  await page.locator("#connection-select").selectOption("copilot-headless");
  await waitFor(async () => (await page.locator("#model-name").inputValue()) === "my-own", "the model of the connection");
  const first = (name) => option(page, name).locator("option").first().textContent();
  assert.deepEqual([await first("effort"), await first("permissionMode"), await first("provider")], ["Default: high", "Default: allow everything", "Default: ollama"]);
  const box = (name) => option(page, name).getByRole("checkbox");
  assert.deepEqual([await box("disableBuiltinMcps").isChecked(), await box("autopilot").isChecked()], [false, true]);
  const placeholders = await Promise.all([option(page, "maxAutopilotContinues").locator("input"), option(page, "addDirs").locator("textarea")].map((field) => field.getAttribute("placeholder")));
  assert.deepEqual(placeholders, ["Default: 7", "Default: /a, /b"]);
  await waitForText(page.locator("#more-summary"), /Allow everything/);
  assert.equal(await page.locator("#more-summary .field-warning").textContent(), "Allow everything", "a risk is said, also by default");
  await page.locator("#start-button").click();
  await waitFor(() => asked.length === 1, "the session");
  assert.deepEqual(asked[0], { runtime: "copilot-headless", model: "my-own", workingDirectory: asked[0].workingDirectory });
  const again = await open(context);
  await option(again, "disableBuiltinMcps").getByRole("checkbox").check();
  await again.locator("#start-button").click();
  await waitFor(() => asked.length === 2, "the second session");
  assert.deepEqual(asked[1].options, { disableBuiltinMcps: true });
});

test("what another tab saves in the settings is shown at once", async () => {
  const context = await deck.openContext();
  const page = await open(context);
  await page.locator("#runtime-select").selectOption("demo");
  if ((await page.locator("#more-options-button").getAttribute("aria-expanded")) === "false") await page.locator("#more-options-button").click();
  const usual = option(page, "permissionMode").locator("option").first();
  await waitForText(usual, "Default: ask me");
  const settings = await context.newPage();
  await settings.goto(`${deck.server.url}/settings.html#permissions`);
  const row = settings.locator('.setting[data-key="permissions.default"]');
  await row.getByRole("combobox").selectOption("deny");
  await row.getByRole("button", { name: "Save" }).click();
  await waitForText(usual, "Default: deny everything");
  await deck.server.call("PATCH", "settings", { changes: { "permissions.default": null } });
});

test("a value that cannot be used is said before anything is sent", async () => {
  const { context, asked } = await ourContext();
  const page = await open(context);
  await page.locator("#more-options-button").click();
  await page.locator("#connection-select").selectOption("copilot-headless");
  await option(page, "maxAutopilotContinues").getByRole("spinbutton").fill("-1");
  await page.locator("#more-options-button").click();
  await page.locator("#start-button").click();
  await waitForText(page.locator("#options-problem"), /Most autopilot turns: enter a whole number/);
  assert.ok(await option(page, "maxAutopilotContinues").getByRole("spinbutton").evaluate((input) => input === document.activeElement));
  assert.equal(asked.length, 0);
});

test("MCP servers are added as a command, a URL or JSON", async () => {
  const { context, asked } = await ourContext();
  const page = await open(context);
  await page.locator("#more-options-button").click();
  await page.locator("#connection-select").selectOption("copilot-headless");
  const field = option(page, "mcpServers");
  const add = async (name, text) => {
    await field.locator(".server-name").fill(name);
    await field.locator(".server-address").fill(text);
    await field.getByRole("button", { name: "Add the MCP server" }).click();
  };
  for (const [name, text, reason] of [["", "", /Enter a command/], ["", "npx server", /Enter a name/], ["x", "{bad", /Invalid JSON/], ["x", '{"a":1}', /“command” or “url”/]]) {
    await add(name, text);
    await waitForText(field.locator(".field-problem"), reason);
  }
  await field.locator(".server-address").fill("half written");
  await page.locator("#start-button").click();
  await waitForText(page.locator("#options-problem"), /press Add/);
  await add("local", 'npx -y "my server" --flag=\'a b\' --x');
  await add("web", "https://example.com/mcp");
  await add("", '{"mcpServers":{"other":{"command":"o","env":{"KEY":"sk-secret"}}}}');
  await add(MARKUP, '{"url":"https://example.com/markup"}');
  await field.getByRole("button", { name: "Remove web" }).click();
  assert.equal(await field.locator(".server-added").count(), 3);
  assert.ok(await field.getByText(MARKUP).first().isVisible(), "names are text");
  await page.locator("#start-button").click();
  await waitFor(() => asked.length === 1, "the session");
  assert.deepEqual(asked[0].options.mcpServers, {
    local: { command: "npx", args: ["-y", "my server", "--flag=a b", "--x"] },
    other: { command: "o", env: { KEY: "sk-secret" } },
    [MARKUP]: { url: "https://example.com/markup" },
  });
  assert.ok(!(await page.evaluate(() => JSON.stringify({ ...localStorage }))).includes("sk-secret"), "secrets are not kept");
});

test("a model that is not in the list can be named, with suggestions", async () => {
  const { context, asked } = await ourContext();
  const page = await open(context);
  assert.deepEqual(await page.locator("#model-select option").allTextContents(), ["ONE", "Other model …"]);
  await page.locator("#model-select").selectOption({ label: "Other model …" });
  assert.ok(await page.locator("#model-name").evaluate((input) => input === document.activeElement));
  assert.deepEqual(await page.locator("#model-suggestions option").evaluateAll((all) => all.map(({ value }) => value)), ["one", "secret"]);
  await page.locator("#model-name").fill("secret");
  await page.locator("#start-button").click();
  await waitFor(() => asked.length === 1, "the session");
  assert.equal(asked[0].model, "secret");
});

test("an agent without a list takes a name, or chooses itself", async () => {
  const { context, asked } = await ourContext();
  const page = await open(context);
  await page.locator("#runtime-select").selectOption("acp:bare");
  assert.equal(await page.locator("#options-kept").textContent(), "This browser remembers these choices for each agent.");
  assert.ok(await page.locator("#model-select").isHidden());
  assert.equal(await page.locator("#model-name").getAttribute("placeholder"), "Default model");
  await page.getByLabel("Model", { exact: true }).fill("gemini/pro");
  await page.locator("#start-button").click();
  await waitFor(() => asked.length === 1, "the session");
  assert.deepEqual([asked[0].runtime, asked[0].model], ["acp:bare", "gemini/pro"]);
  await shown(page);
  await page.goBack();
  await page.locator("#model-name").fill("");
  await page.locator("#start-button").click();
  await waitFor(() => asked.length === 2, "the session");
  assert.deepEqual([asked[1].runtime, asked[1].model], ["acp:bare", undefined]);
});

test("with a provider of one's own, any model can be named", async () => {
  const { context, asked } = await ourContext();
  const page = await open(context);
  await page.locator("#more-options-button").click();
  await page.locator("#connection-select").selectOption("copilot-headless");
  await option(page, "provider").getByRole("combobox").selectOption("ollama");
  await page.locator("#model-select").selectOption({ label: "Other model …" });
  await page.locator("#model-name").fill("qwen");
  await page.locator("#start-button").click();
  await waitFor(() => asked.length === 1, "the session");
  assert.deepEqual([asked[0].model, asked[0].options], ["qwen", { provider: "ollama" }]);
});

test("an agent that vanishes is said, and the others can be chosen", async () => {
  deck.expectConsoleErrors(/400/);
  const state = {};
  const { context } = await ourContext(state);
  const page = await open(context);
  await page.locator("#runtime-select").selectOption("acp:bare");
  state.runtimes = [runtime("copilot")];
  state.refusal = { error: "RuntimeNotFound", message: "Unknown runtime." };
  await page.locator("#start-button").click();
  await waitForText(page.locator("#start-problem"), /no longer available/);
  await waitFor(async () => (await page.locator("#runtime-select").inputValue()) === "copilot", "another agent");
  assert.ok(await page.locator("#connection-option").isHidden(), "one connection is no choice");
});

test("what the server refuses is said where it can be changed", async () => {
  deck.expectConsoleErrors(/400/);
  const state = {};
  const { context } = await ourContext(state);
  const page = await open(context);
  state.refusal = { error: "InvalidOptions", message: `Invalid session options: ${MARKUP}.` };
  await page.locator("#start-button").click();
  await waitForText(page.locator("#options-problem"), `Invalid session options: ${MARKUP}.`);
  assert.ok(await page.locator("#start-options").isVisible());
  state.refusal = { error: "WorkingDirectoryNotAllowed", message: "No." };
  await page.locator("#start-button").click();
  await waitForText(page.locator("#working-dir-problem"), /sessions\.roots/);
  state.refusal = { error: "SomethingElse", message: MARKUP };
  await page.locator("#start-button").click();
  await waitForText(page.locator("#start-problem"), `Could not start the session: ${MARKUP}`);
});

test("markup in names is text everywhere", async () => {
  const state = { runtimes: [runtime("copilot", { title: MARKUP, hint: MARKUP, ready: false, login: { state: "unknown", canLogIn: false }, connection: { name: MARKUP, hint: MARKUP } }), runtime("copilot-headless"), BARE] };
  const { context } = await ourContext(state);
  const page = await open(context);
  await page.locator("#more-options-button").click();
  await page.locator("#agents > summary").click();
  await page.locator("#connection-select").selectOption("copilot");
  assert.ok(await page.locator("#start-button").isDisabled(), "this connection is not ready");
  await waitForText(page.locator("#agent-line .agent-line-text"), new RegExp(MARKUP.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  assert.equal(await page.locator("#setup-ui img").count(), 0);
  assert.notEqual(await page.title(), "1");
});
