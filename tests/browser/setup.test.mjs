// The set-up: model, folder, start.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { folderKnown, openSetup, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck({ config: '[sessions]\nmodel = "demo-slow"\n' });

/** Answers `api/models` with these instead of the server's. */
async function withModels(context, models, lists = []) {
  await context.route(/\/api\/models(\?|$)/, (route) => route.fulfill({ json: { models, lists, notes: [] } }));
}

const model = (name, id, runtime = "demo") => ({ runtime, name, id, listedId: id, listed: true, multiplier: 1, hidden: false, provider: null });

test("every part has the portal's id, in the portal's places", async () => {
  const page = await openSetup(deck);
  await page.locator("#home-sections").waitFor();
  const places = await page.evaluate(() => {
    const left = document.querySelector("#setup-buttons-left");
    const box = (id) => document.querySelector(id).getBoundingClientRect();
    return {
      inLeft: [...left.children].map((element) => element.id),
      leftOfStart: box("#setup-buttons-left").right < box("#start-button").left,
      middle: Math.abs((box("#new-session").left + box("#new-session").right) / 2 - innerWidth / 2) < 20,
      styles: [...document.querySelectorAll("link[rel=stylesheet]")].map((link) => link.getAttribute("href")),
    };
  });
  assert.deepEqual(places.inLeft, ["jobs-button", "refresh-button"]);
  assert.ok(places.leftOfStart && places.middle);
  for (const name of ["index.css", "messageBlock.css", "sessionResponse.css"]) assert.ok(places.styles.includes(name), name);
  for (const id of ["#setup-ui", "#model-select", "#working-dir", "#running-jobs-list"]) assert.ok(await page.locator(id).isVisible(), id);
  assert.equal(await page.locator("#start-button").textContent(), "Start");
  assert.equal(await page.locator("#jobs-button").textContent(), "New Job");
  assert.equal(await page.locator("#refresh-button").textContent(), "Refresh");
});

test("models are sorted by name, names are shown, ids are used, and the configured one is chosen", async () => {
  const page = await openSetup(deck);
  assert.equal(await page.locator("#model-select").inputValue(), "demo-slow");
  const context = await deck.openContext();
  await withModels(context, [model("Zeta", "zeta-1"), model("alpha 10", "a-10"), model("Alpha 2", "a-2"), model("GPT", "gpt-5.2")], [{ runtime: "demo", takesAnyName: false, agentChooses: false, default: "gpt-5.2" }]);
  const other = await context.newPage();
  await other.goto(deck.server.url);
  await waitFor(() => other.locator("#start-button").isEnabled(), "the start button");
  const options = await other.locator("#model-select option").evaluateAll((all) => all.map((option) => [option.textContent, option.value]));
  assert.deepEqual(options, [["Alpha 2", "a-2"], ["alpha 10", "a-10"], ["GPT", "gpt-5.2"], ["Zeta", "zeta-1"]]);
  assert.equal(await other.locator("#model-select").inputValue(), "gpt-5.2", "what the server would choose");
});

test("start waits for the models, and their absence is said at the box", async () => {
  deck.expectConsoleErrors(/503|500/);
  const context = await deck.openContext();
  let answer = null;
  await context.route(/\/api\/models(\?|$)/, async (route) => {
    await new Promise((resolve) => {
      answer = resolve;
    });
    await route.fulfill({ status: 503, json: { error: "Busy", message: "The agents do not answer." } });
  });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitFor(() => answer, "the question for models");
  assert.ok(await page.locator("#start-button").isDisabled());
  answer();
  await waitForText(page.locator("#model-problem"), /The agents do not answer\..*Refresh/);
  assert.ok(await page.locator("#start-button").isDisabled());
});

test("there is one entry for each agent, and what is missing for the chosen one is said in one line", async () => {
  const page = await openSetup(deck);
  const options = await page.locator("#runtime-select option").allTextContents();
  assert.deepEqual(options, ["Demo", "GitHub Copilot", "Claude Code"]);
  assert.equal(await page.locator('#runtime-select optgroup[label="Not ready"] option').count(), 2);
  await waitForText(page.locator("#agent-line"), /^Only the demo agent is ready/);
  await page.locator("#agent-line").getByRole("button", { name: "Set up an agent" }).click();
  await page.locator('.runtime-row[data-runtime="copilot"] .state-word', { hasText: "Not ready" }).waitFor();
  await page.locator('.runtime-row[data-runtime="demo"] .state-word', { hasText: /^Ready$/ }).waitFor();
  assert.equal(await page.locator(".runtime-row").count(), 3);
  await page.locator("#runtime-select").selectOption("copilot");
  // The program is named by a variable, so that an install would not help.
  await waitForText(page.locator("#agent-line"), /COPILOT_CLI_PATH is set to .* which does not exist/);
  assert.equal(await page.locator("#agent-line button").textContent(), "Check again");
  assert.ok(await page.locator("#start-button").isDisabled());
  await page.locator("#runtime-select").selectOption("claude");
  await waitForText(page.locator("#agent-line"), /^Claude Code is not installed\./);
  assert.deepEqual(await page.locator("#agent-line button").allTextContents(), ["Install"]);
  await page.locator("#runtime-select").selectOption("demo");
  assert.equal(await page.locator("#model-select option").count(), 2);
  assert.ok(await page.locator("#start-button").isEnabled());
});

test("the folder is the repository's, or the project beside it that the address names", async () => {
  const { repoRoot } = await deck.server.call("GET", "config");
  const page = await openSetup(deck);
  assert.equal(await page.locator("#working-dir").inputValue(), repoRoot);
  const other = await openSetup(deck, "/index.html?project=XXX");
  assert.equal(await other.locator("#working-dir").inputValue(), path.join(path.dirname(repoRoot), "XXX"));
});

test("the configured model is chosen even if it is known later than the list, unless another was chosen", async () => {
  for (const choice of [null, "demo"]) {
    const context = await deck.openContext();
    let letThrough;
    const held = new Promise((resolve) => (letThrough = resolve));
    await context.route(/\/api\/config$/, async (route) => {
      await held;
      await route.continue();
    });
    const page = await context.newPage();
    await page.goto(deck.server.url);
    const select = page.locator("#model-select");
    await waitFor(() => page.locator("#start-button").isEnabled(), "the models");
    if (choice) await select.selectOption(choice);
    const config = page.waitForResponse(/\/api\/config$/);
    letThrough();
    await (await config).finished();
    await waitFor(async () => (await select.inputValue()) === (choice ?? "demo-slow"), `the model is ${choice ?? "the configured one"}`);
    await folderKnown(page);
    await page.locator("#working-dir").fill(deck.server.workFolder);
    await page.locator("#start-button").click();
    await shown(page);
    const id = new URL(page.url()).searchParams.get("session");
    assert.equal((await deck.server.call("GET", `copilot/session/${id}`)).model, choice ?? "demo-slow");
  }
});

test("a wrong folder is named next to the box, and the right one starts a session that the address names", async () => {
  deck.expectConsoleErrors(/400/);
  const page = await openSetup(deck);
  for (const [folder, reason] of [["relative/path", /Not an absolute path/], ["/no/such/folder", /does not exist/]]) {
    await page.locator("#working-dir").fill(folder);
    await page.locator("#start-button").click();
    await waitForText(page.locator("#working-dir-problem"), reason);
    assert.equal(await page.locator("#working-dir").getAttribute("aria-invalid"), "true");
    assert.ok(await page.locator("#setup-ui").isVisible());
  }
  await page.locator("#working-dir").fill(deck.server.workFolder);
  assert.ok(await page.locator("#working-dir-problem").isHidden());
  await page.locator("#start-button").click();
  await shown(page);
  assert.ok(await page.locator("#setup-ui").isHidden());
  const id = new URL(page.url()).searchParams.get("session");
  const details = await deck.server.call("GET", `copilot/session/${id}`);
  assert.equal(details.workingDirectory, deck.server.workFolder);
  assert.equal(details.model, "demo-slow");
  await page.goBack();
  await page.locator("#setup-ui").waitFor();
  assert.ok(await page.locator("#session-ui").isHidden());
});

test("a model that is gone is said at its box", async () => {
  deck.expectConsoleErrors(/400/);
  const context = await deck.openContext();
  await withModels(context, [model("Gone", "no-such-model")]);
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  await page.locator("#start-button").click();
  await waitForText(page.locator("#model-problem"), /no longer available/);
});

test("two sessions in one folder are warned about before and after the start", async () => {
  const folder = path.join(deck.server.folder, "shared");
  await mkdir(folder, { recursive: true });
  const page = await openSetup(deck);
  await page.locator("#working-dir").fill(folder);
  assert.ok(await page.locator("#working-dir-warning").isHidden());
  const first = await deck.server.session({ workingDirectory: folder, title: "The first one" });
  await deck.server.call("POST", `copilot/session/${first}/prompt`, { text: "permission" });
  await waitForText(page.locator("#working-dir-warning"), /The first one/);
  await deck.server.call("POST", `copilot/session/${first}/prompt`, { text: "many 100000 20" });
  await page.locator("#start-button").click();
  await shown(page);
  await page.locator('[data-banner="shared-folder"] a', { hasText: "The first one" }).waitFor();
  await deck.server.call("POST", `copilot/session/${first}/stop`);
  await page.locator('[data-banner="shared-folder"]').waitFor({ state: "detached" });
});

test("refresh asks the agents again", async () => {
  const context = await deck.openContext();
  const asked = [];
  await context.route(/\/api\/models(\?|$)/, (route) => {
    asked.push(new URL(route.request().url()).search);
    return route.fulfill({ json: { models: [model(`Model ${asked.length}`, `m-${asked.length}`)], notes: [] } });
  });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitForText(page.locator("#model-select option"), "Model 1");
  await page.locator("#refresh-button").click();
  await waitForText(page.locator("#model-select option"), "Model 2");
  assert.deepEqual(asked, ["", "?refresh=true"]);
});

test("test.html shows the message of the API", async () => {
  const page = await deck.openPage("/test.html");
  await waitForText(page.locator("body"), "Hello, world!");
});
