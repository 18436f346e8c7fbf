// The page that shows the API.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccessibility as check, useDeck, waitFor } from "./support/index.mjs";

const deck = useDeck();

async function openDocs(path = "/api/docs", context = {}) {
  const page = await deck.openPage(path, context);
  await page.locator(".api-operation").first().waitFor();
  return page;
}

const shown = (page) => page.locator(".api-operation:visible");

test("every operation of the document is on the page, group by group", async () => {
  const page = await openDocs();
  const { paths, tags } = await deck.server.call("GET", "openapi.json");
  const count = Object.values(paths).flatMap((methods) => Object.keys(methods)).length;
  assert.equal(await shown(page).count(), count);
  assert.equal(await page.locator("#api-count").textContent(), `${count} operations`);
  assert.equal(await page.locator("#api-operations h2").count(), tags.length);
  assert.equal(await page.title(), "API · Flightdeck");
});

test("a filter leaves the operations in which every word occurs", async () => {
  const page = await openDocs();
  await page.keyboard.press("/");
  await page.keyboard.type("POST prompt sessions");
  await waitFor(async () => (await page.locator("#api-count").textContent()) !== "", "the count");
  await page.locator("#api-filter").fill("post /prompt");
  const paths = await shown(page).locator(".api-path").allTextContents();
  assert.deepEqual(paths, ["/api/copilot/session/{id}/prompt"]);
  assert.equal(await page.locator("#api-count").textContent(), "1 operation");
  assert.equal(await page.locator("#api-groups li:visible").count(), 1);
  await page.locator("#api-filter").fill("no such thing");
  assert.equal(await page.locator("#api-count").textContent(), "No operation matches");
});

test("an operation shows its scope, parameters, body, replies, errors and a command", async () => {
  const page = await openDocs("/api/docs#sendPrompt");
  const operation = page.locator("#sendPrompt");
  await operation.locator(".api-details").waitFor();
  assert.equal(await operation.locator(".api-scope code").textContent(), "prompt");
  const names = await operation.locator(".api-part").first().locator(".api-name").allTextContents();
  assert.deepEqual(names, ["id", "Idempotency-Key"]);
  const text = await operation.textContent();
  for (const part of ["attachments", "BudgetSpent", "SessionNotFound"]) assert.ok(text.includes(part), part);
  const command = await operation.locator(".api-curl pre").textContent();
  assert.equal(command, `curl -X POST -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"text":"…"}' '${deck.server.url}/api/copilot/session/session-1/prompt'`);
  // Fields inside fields open on demand.
  const attachments = operation.locator(".api-field", { has: page.getByText("attachments", { exact: true }) }).last();
  await attachments.getByText("Fields").click();
  await attachments.getByText("mime", { exact: true }).waitFor();
});

test("a command can be copied", async () => {
  const page = await openDocs("/api/docs#health");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator("#health").getByRole("button", { name: "Copy the command" }).click();
  await page.locator("#health .api-copy.copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `curl '${deck.server.url}/api/health'`);
});

test("the keyboard reaches and opens an operation", async () => {
  const page = await openDocs();
  await page.locator("#api-filter").fill("listTokens");
  await page.locator("#api-filter").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator("#listTokens .api-details").waitFor();
});

test("without a login there is only the login, which leads back", async () => {
  deck.expectConsoleErrors(/401/);
  const page = await (await deck.openStrangersContext()).newPage();
  const answer = await page.goto(`${deck.server.url}/api/docs`);
  assert.equal(answer.status(), 401);
  assert.equal(await page.locator("input[name=next]").inputValue(), "/api/docs");
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious, ${colorScheme}`, async () => {
    const page = await openDocs("/api/docs#createSession", { colorScheme });
    await page.locator("#createSession .api-details").waitFor();
    await check(page, "an open operation");
  });
}

test("a phone shows everything without scrolling sideways", async () => {
  const page = await openDocs("/api/docs#answerPermission", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await page.locator("#answerPermission .api-details").waitFor();
  const [inner, outer] = await page.evaluate(() => [document.getElementById("main").scrollWidth, document.getElementById("main").clientWidth]);
  assert.ok(inner <= outer, `${inner} > ${outer}`);
});
