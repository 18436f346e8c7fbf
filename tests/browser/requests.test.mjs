// Permissions and questions: exactly what would run, the choices with their keys, and the answer afterwards.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, choose, openSession, reconnect, send, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const request = (page) => page.locator(".request-block").last();
const choices = (page) => page.locator(".request-choice bdi").allTextContents();

async function permissionPage(context) {
  const id = await deck.server.session();
  const page = await openSession(deck, id, context);
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  return { id, page };
}

const answers = async (id) => (await deck.server.log(id)).filter(({ response }) => /Answered$/.test(response.callback)).map(({ response }) => response);

test("a permission shows exactly what would run and where, and shrinks to one line when allowed", async () => {
  const { id, page } = await permissionPage();
  assert.equal(await request(page).locator(".request-detail").textContent(), "echo 'a demo: nothing is run'");
  assert.match(await request(page).locator(".request-place").textContent(), new RegExp(deck.server.workFolder));
  assert.deepEqual(await choices(page), ["Allow once", "Always allow", "Deny"]);
  const before = await request(page).evaluate((element) => element.getBoundingClientRect().height);
  await page.getByRole("button", { name: "Allow once" }).click();
  await waitForText(request(page).locator(".request-verdict"), "Allowed once");
  const after = await request(page).evaluate((element) => element.getBoundingClientRect().height);
  assert.ok(after < 40 && after < before / 2, `${before} → ${after}`);
  assert.match(await request(page).textContent(), /echo 'a demo: nothing is run'.*in the browser/);
  await waitForText(blocks(page, "Message").last(), /You allowed it/);
  assert.equal((await answers(id))[0].by, "page");
});

test("what to do instead goes along with a denial", async () => {
  const { page } = await permissionPage();
  await page.locator(".request-feedback").fill("use printf");
  await page.getByRole("button", { name: "Deny" }).click();
  await waitForText(request(page).locator(".request-verdict"), "Denied");
  await waitForText(blocks(page, "Tool").locator(".message-block-outcome"), "denied");
  await blocks(page, "Tool").locator(".message-block-header").click();
  await waitForText(blocks(page, "Tool").locator(".message-block-body"), /use printf/);
});

test("an answer of somebody else is shown in every tab, and the second answer is refused politely", async () => {
  deck.expectConsoleErrors(/409/);
  const { id, page } = await permissionPage();
  const second = await page.context().newPage();
  // The second tab's own news come too late.
  await second.route(/\/live\//, () => {});
  await second.goto(page.url());
  await shown(second);
  const { requestId } = (await deck.server.log(id)).find(({ response }) => response.callback === "onPermissionRequested").response;
  await deck.server.call("POST", `copilot/session/${id}/permission/${requestId}`, { decision: "allow-once" });
  await waitForText(request(page).locator(".request-by"), "by a program");
  await choose(second, 1);
  await waitForText(second.locator(".request-problem"), /answered/);
});

test("a question is answered with a choice, in own words, or not at all", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await send(page, "question");
  await waitForText(page.locator(".request-title"), /which colour/);
  assert.deepEqual(await choices(page), ["red", "green", "blue"]);
  await choose(page, 2);
  await waitForText(request(page).locator(".request-about"), /— green$/);
  await waitFor(() => page.locator("#send-button").isEnabled(), "the send button");
  await send(page, "question");
  await waitFor(async () => (await page.locator(".request-free input").count()) === 1, "the second question");
  await page.locator(".request-free input").fill("ultraviolet");
  await page.keyboard.press("Enter");
  await waitForText(request(page).locator(".request-about"), /— ultraviolet$/);
  await waitForText(blocks(page, "Message").last(), /your answer: ultraviolet/);
});

test("a request that is open when the page comes can be answered, also after a restart of the server", async () => {
  deck.expectConsoleErrors(/Failed to load resource/);
  const { id, page } = await permissionPage();
  await page.reload();
  await page.locator(".request-choice").first().waitFor();
  await shown(page);
  await deck.server.kill();
  await page.locator('[data-banner="connection"]').waitFor();
  await deck.server.startAgain();
  await reconnect(page);
  await choose(page, 1);
  await waitForText(request(page).locator(".request-verdict"), "Allowed once");
  assert.equal((await answers(id)).length, 1);
});

test("Always allow covers what is chosen, and the least if nothing is", async () => {
  for (const [chosen, expected] of [
    [null, { covers: "call" }],
    ["tool", { covers: "tool" }],
    ["prefix", { covers: "prefix", prefix: "echo" }],
  ]) {
    const { page } = await permissionPage();
    const scope = request(page).getByLabel("What to always allow");
    assert.deepEqual(await scope.locator("option").evaluateAll((options) => options.map(({ value }) => value)), ["call", "prefix", "tool"]);
    if (chosen) await scope.selectOption(chosen);
    const sent = page.waitForRequest(/\/permission\//);
    await choose(page, 2);
    assert.deepEqual((await sent).postDataJSON(), { decision: "allow-always", ...expected });
    await waitForText(request(page).locator(".request-verdict"), "Always allowed");
  }
});

test("Always allow may hold in every session of the folder, and answers what waits there", async () => {
  const { page } = await permissionPage();
  const { page: other } = await permissionPage();
  const { page: third } = await permissionPage();
  const place = request(page).getByLabel("Where to always allow it");
  assert.equal(await place.inputValue(), "session", "the least if nothing is chosen");
  assert.deepEqual(await place.locator("option").allTextContents(), ["in this session", "in every session in this folder"]);
  await choose(third, 3);
  await waitForText(request(third).locator(".request-verdict"), "Denied");
  await place.selectOption("folder");
  const sent = page.waitForRequest(/\/permission\//);
  await choose(page, 2);
  assert.deepEqual((await sent).postDataJSON(), { decision: "allow-always", covers: "call", scope: "folder" });
  await waitForText(request(page).locator(".request-verdict"), "Always allowed");
  await waitForText(request(other).locator(".request-verdict"), "Allowed once");
  await waitForText(request(other).locator(".request-by"), "by a rule");
  await waitForText(page.locator('.session-notice[data-kind="info"]').last(), /every session in .* may do this without asking/);
  const { rules } = await deck.server.call("GET", "folder-rules");
  assert.deepEqual(rules.map(({ folder, tool }) => [folder, tool]), [[deck.server.workFolder, "shell"]]);
  // It is taken back in the details of any session there.
  await other.evaluate(() => document.querySelector("#details-button").click());
  const row = other.locator(".folder-rules li");
  await waitForText(row.locator("span"), "allow shell: exactly echo 'a demo: nothing is run'");
  await row.getByRole("button", { name: /^Remove the rule/ }).click();
  await row.waitFor({ state: "detached" });
  assert.deepEqual((await deck.server.call("GET", "folder-rules")).rules, []);
  await waitFor(() => third.locator("#send-button").isEnabled(), "the end of its turn");
  await send(third, "permission");
  await waitFor(async () => (await third.locator(".request-block.waiting").count()) === 1, "the agent asks again");
});

test("an interrupt closes the request", async () => {
  const { page } = await permissionPage();
  await page.keyboard.press("Control+.");
  await waitForText(request(page).locator(".request-verdict"), "Cancelled");
  await waitFor(() => page.locator("#send-button").isEnabled(), "the send button");
  await waitForText(page.locator('.session-notice[data-kind="interrupted"]'), /interrupted/);
});

test("a file edit is shown as a diff before it is allowed", async () => {
  const page = await deck.openPage("/test.html");
  const classes = await page.evaluate(async () => {
    const { PermissionBlock } = await import("/session/requests.js");
    const detail = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old <b>\n+new\n";
    const block = new PermissionBlock({ requestId: "r", kind: "write", title: "t", detail, options: ["deny"] }, null);
    return [...block.divElement.querySelectorAll(".diff-line")].map((line) => [line.className.replace("exact-text diff-line ", ""), line.textContent]);
  });
  assert.deepEqual(classes.slice(2), [
    ["diff-hunk", "@@ -1 +1 @@\n"],
    ["diff-removed", "-old <b>\n"],
    ["diff-added", "+new\n"],
  ]);
});

test("a question with a form asks for each value and checks it", async () => {
  const page = await deck.openPage("/test.html");
  await page.evaluate(async () => {
    const { QuestionBlock } = await import("/session/requests.js");
    const form = {
      type: "object",
      required: ["name", "level"],
      properties: {
        name: { type: "string", title: "Name", description: "Of the branch" },
        count: { type: "integer", minimum: 1, maximum: 9 },
        level: { type: "string", enum: ["low", "high"] },
        sure: { type: "boolean", default: true },
      },
    };
    window.sent = [];
    const actions = { folder: null, answer: async (id, body) => window.sent.push(body) };
    const block = new QuestionBlock({ requestId: "r", question: "Which?", detail: "A *plan*", url: "https://example.com/doc", form }, actions);
    document.body.replaceChildren(block.divElement);
  });
  assert.equal(await page.locator("a").getAttribute("rel"), "noopener noreferrer nofollow");
  // The fields are loaded with the first form.
  await page.getByLabel("Name").waitFor();
  await page.getByRole("button", { name: "Answer" }).click();
  await waitForText(page.locator(".form-field .request-problem").first(), "Required.");
  assert.deepEqual(await page.evaluate(() => window.sent), []);
  await page.getByLabel("Name").fill("topic");
  await page.getByLabel("count").fill("12");
  await page.getByRole("button", { name: "Answer" }).click();
  await waitForText(page.locator(".form-field .request-problem").nth(1), /9/);
  await page.getByLabel("count").fill("3");
  await page.getByLabel("level").selectOption("high");
  await page.getByRole("button", { name: "Answer" }).click();
  await waitFor(() => page.evaluate(() => window.sent.length), "the answer");
  assert.deepEqual(await page.evaluate(() => window.sent), [{ path: "answer", json: { content: { name: "topic", count: 3, level: "high", sure: true } } }]);
});
