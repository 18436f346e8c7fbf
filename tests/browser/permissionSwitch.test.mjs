// The switches of a running session take effect at once, so no key that was meant for something else may move them, and what
// would run is shown before everything is allowed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, checkAccessibility, openSession, send, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();
const mode = (page) => page.locator("#composer-mode");
const modeOf = async (id) => (await deck.server.call("GET", `copilot/session/${id}`)).permissionMode;

/** A page of a new session whose agents can do something more. */
async function withCapabilities(capabilities) {
  const context = await deck.openContext();
  await context.route(/\/api\/runtimes$/, async (route) => {
    const response = await route.fetch();
    const { runtimes } = await response.json();
    await route.fulfill({ response, json: { runtimes: runtimes.map((one) => ({ ...one, capabilities: { ...one.capabilities, ...capabilities } })) } });
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${await deck.server.session()}`);
  await shown(page);
  return page;
}

/** A session with an open request, and its page. */
async function openRequest() {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  // The switches are made again when the agents come and when the models do, and a list that is open then would close.
  await page.locator("#composer-model:enabled option[value=demo-slow]").waitFor({ state: "attached" });
  await send(page, "permission");
  await page.locator(".request-block.waiting .request-choice").first().waitFor();
  return { id, page };
}

test("keys on a closed list change nothing and answer nothing, beside the request and in the details", async () => {
  const { id, page } = await openRequest();
  const patches = [];
  page.on("request", (request) => request.method() === "PATCH" && patches.push(request.postData()));
  await page.keyboard.press("Alt+s");
  await page.locator("#details-mode").waitFor();
  for (const list of ["#composer-mode", "#composer-model", "#details-mode", "#details-model"]) {
    for (const key of ["ArrowDown", "End", "PageDown", "a", "d"]) {
      const before = await page.locator(list).inputValue();
      await page.locator(list).focus();
      await page.keyboard.press(key);
      await page.keyboard.press("Escape");
      assert.equal(await page.locator(list).inputValue(), before, `${list}: ${key}`);
    }
  }
  assert.deepEqual(patches, []);
  assert.equal(await modeOf(id), "ask");
  assert.ok(await page.locator(".request-block.waiting").isVisible());
});

for (const [place, list] of [["beside the request", "#composer-mode"], ["in the details", "#details-mode"]]) {
  test(`everything is allowed ${place} only after the person has seen what will run`, async () => {
    const { id, page } = await openRequest();
    if (list === "#details-mode") await page.keyboard.press("Alt+s");
    const command = await page.locator(".request-block.waiting .request-detail").textContent();
    await page.locator(list).selectOption("allow-all");
    const dialog = page.locator("dialog[open]");
    await waitForText(dialog.locator(".request-detail"), command);
    await waitForText(dialog, /This open request is allowed at once/);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Cancel", "Enter is harmless");
    await checkAccessibility(page, "the question");
    await page.keyboard.press("Enter");
    await waitFor(async () => (await page.locator(list).inputValue()) === "ask", "what is in force");
    assert.equal(await modeOf(id), "ask");
    assert.ok(await page.locator(".request-block.waiting").isVisible(), "nobody has answered");
    await page.locator(list).selectOption("allow-all");
    await page.locator("dialog[open] .danger").click();
    await waitForText(page.locator(".request-block").first(), /Allowed once.*by the permission mode/);
    assert.equal(await modeOf(id), "allow-all");
  });
}

test("without an open request the question names none, and a mode that allows less is set at once", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await mode(page).selectOption("allow-all");
  await page.locator("dialog[open] .danger").waitFor();
  assert.equal(await page.locator("dialog[open] li").count(), 0);
  await page.keyboard.press("Escape");
  await mode(page).selectOption("folder");
  await waitFor(async () => (await modeOf(id)) === "folder", "the mode");
  assert.equal(await page.locator("dialog[open]").count(), 0);
});

test("the details follow what is chosen beside the request", async () => {
  const page = await openSession(deck, await deck.server.session());
  await mode(page).waitFor();
  await page.keyboard.press("Alt+s");
  await page.locator("#details-mode").waitFor();
  await mode(page).selectOption("deny");
  await waitFor(async () => (await page.locator("#details-mode").inputValue()) === "deny", "the list in the details");
});

test("the details show a model that no list has", async () => {
  const context = await deck.openContext();
  await context.route(/\/api\/models(\?|$)/, async (route) => {
    const response = await route.fetch();
    const { models, ...rest } = await response.json();
    await route.fulfill({ response, json: { ...rest, models: models.filter(({ id }) => id !== "demo-slow") } });
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${await deck.server.session()}`);
  await shown(page);
  await page.keyboard.press("Alt+s");
  await page.locator("#details-model").waitFor();
  await page.locator("#composer-model:enabled").selectOption({ label: "Other …" });
  await page.keyboard.type("demo-slow");
  await page.keyboard.press("Enter");
  await waitFor(async () => (await page.locator("#details-model").inputValue()) === "demo-slow", "the model in the details");
});

test("an agent that can't ask has rules only, also in the details", async () => {
  const page = await withCapabilities({ permissions: false });
  await page.keyboard.press("Alt+s");
  for (const list of ["#composer-mode", "#details-mode"]) await waitForText(page.locator(list).locator("option").first(), "Rules only");
});

test("the effort is switched beside the request", async () => {
  const page = await withCapabilities({ effortLevels: ["low", "high"] });
  let sent = null;
  await page.route(/\/session\/session-\d+$/, async (route) => {
    if (route.request().method() !== "PATCH") return route.continue();
    sent = route.request().postDataJSON();
    const details = await deck.server.call("GET", route.request().url().split("/api/")[1]);
    return route.fulfill({ json: { ...details, ...sent } });
  });
  await page.locator("#composer-effort").selectOption("high");
  await waitFor(() => sent !== null, "the change");
  assert.deepEqual(sent, { effort: "high" });
  await waitFor(async () => (await page.locator("#composer-effort option").count()) === 2, "no default any more");
  assert.equal(await page.locator("#composer-effort").inputValue(), "high");
  assert.equal(await blocks(page).count(), 0);
});
