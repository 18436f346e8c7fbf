// "Ask again" means the prompt of the turn that failed or was interrupted, never another one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStub, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const prompt = (number, queued = false) => ({ callback: "onUserPrompt", promptId: `prompt-${number}`, text: `task ${number}`, queued });
const start = (turnId) => ({ callback: "onAgentStart", turnId });
const asked = { callback: "onPermissionRequested", requestId: "request-99", kind: "shell", title: "Run", detail: "make", options: ["allow-once", "deny"] };
const lost = { callback: "onPermissionAnswered", requestId: "request-99", decision: "agent-gone", by: "restart" };
const interrupted = { callback: "onNotice", kind: "interrupted", message: "The turn was interrupted because the server stopped." };
const failed = { sessionError: "the service is overloaded", errorClass: "rate-limit", raw: "HTTP 529 {\"type\":\"overloaded\"}" };
const end = [{ callback: "onAgentEnd", turnId: "0" }, { callback: "onIdle" }];

/** A page of a session with these responses behind a first turn, and what it sends to ask again. */
async function pageWith(responses) {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const context = await deck.openContext();
  const log = await LogStub.use({ deck, context, id, responses });
  const sent = [];
  let answer = { status: 200, json: { promptId: "prompt-50" } };
  await context.route(/\/ask-again$/, (route) => {
    const request = route.request();
    sent.push({ path: new URL(request.url()).pathname, body: request.postDataJSON(), key: request.headers()["idempotency-key"] });
    return route.fulfill(answer);
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  const answerWith = (next) => {
    answer = next;
  };
  return { id, page, log, sent, answerWith, buttons: page.locator(".ask-again:visible") };
}

test("a lost request asks for its own turn's prompt, not for the one that was queued behind it", async () => {
  const { id, page, log, sent, buttons } = await pageWith([prompt(2), start("0"), prompt(3, true), asked, lost, interrupted, ...end]);
  await page.locator(".turn-end").nth(1).waitFor();
  assert.equal(await buttons.count(), 1, "one button for a turn, however often it says that it was lost");
  await buttons.click();
  await waitFor(() => sent.length, "the request");
  assert.equal(sent[0].path, `/api/copilot/session/${id}/ask-again`);
  assert.deepEqual(sent[0].body, { promptId: "prompt-2" });
  assert.match(sent[0].key, /^\w+-\w+-\w+-\w+$/);
  await waitForText(buttons, "Asked again");
  assert.ok(await buttons.isDisabled());
  assert.ok(await page.locator("#send-button").isDisabled(), "the prompt is on its way");
  log.add({ ...prompt(50), text: "task 2" }, start("turn-50"), ...end);
  await waitFor(() => page.locator("#send-button").isEnabled(), "the end of the new turn");
});

test("a task's prompt can be asked again", async () => {
  const task = { callback: "onGeneratedUserPrompt", promptId: "prompt-2", prompt: "build it", queued: false };
  const { sent, buttons } = await pageWith([task, start("0"), interrupted, ...end]);
  await buttons.click();
  await waitFor(() => sent.length, "the request");
  assert.deepEqual(sent[0].body, { promptId: "prompt-2" });
});

test("a request that failed is repeated with the same key, and the reason is said", async () => {
  deck.expectConsoleErrors(/503/);
  const { page, sent, buttons, answerWith } = await pageWith([prompt(2), start("turn-2"), asked, lost, ...end]);
  answerWith({ status: 503, json: { error: "Busy", message: "The server is being stopped." } });
  await buttons.click();
  await waitForText(page.locator("#request-problem"), "Could not ask again: The server is being stopped.");
  answerWith({ status: 200, json: { promptId: "prompt-50" } });
  await buttons.click();
  await waitForText(buttons, "Asked again");
  assert.equal(await page.locator("#request-problem").isHidden(), true);
  assert.equal(sent.length, 2);
  assert.equal(sent[0].key, sent[1].key);
});

test("every turn that failed or was interrupted has its own button; one that runs or succeeded has none", async () => {
  const { page, log, sent, buttons } = await pageWith([prompt(2), start("0"), prompt(3, true), interrupted, ...end, start("turn-3"), failed, ...end, prompt(4), start("turn-4"), failed]);
  await waitFor(async () => (await page.locator(".session-error").count()) === 2, "the errors");
  assert.equal(await buttons.count(), 2, "the last turn still runs");
  await buttons.nth(1).click();
  await buttons.nth(0).click();
  await waitFor(() => sent.length === 2, "both");
  assert.deepEqual(sent.map(({ body }) => body.promptId), ["prompt-3", "prompt-2"]);
  log.add(...end);
  await waitFor(async () => (await buttons.count()) === 3, "the third");
});

test("a turn whose prompt is unknown has no button", async () => {
  // The agent's own id of the turn says nothing, and which of the queued prompts it works on is not in the log.
  const { page, buttons } = await pageWith([prompt(2), start("0"), prompt(3, true), prompt(4, true), ...end, start("0"), asked, lost, interrupted, ...end]);
  await waitForText(page.locator(".request-verdict"), "The agent stopped");
  assert.equal(await buttons.count(), 0);
  // Work of the agent's own has no prompt either, even if somebody steers it.
  const own = await pageWith([start("0"), prompt(2), failed, ...end]);
  await own.page.locator(".session-error").waitFor();
  assert.equal(await own.buttons.count(), 0);
});

test("a turn that began in a part of the log that is loaded later gets its button then", async () => {
  const page = await deck.openPage("/test.html");
  const seen = await page.evaluate(async ([prompt, steered, asked, lost, end]) => {
    const { SessionResponseRenderer } = await import("/sessionResponse.js");
    const part = document.createElement("div");
    document.body.replaceChildren(part);
    const sent = [];
    const renderer = new SessionResponseRenderer(part, { requestActions: { folder: "/w", answer: async () => {}, askAgain: async (promptId) => sent.push(promptId) } });
    const event = (seq, response) => ({ seq, time: "2026-01-01T00:00:00Z", response });
    const visible = () => [...part.querySelectorAll(".ask-again")].filter((button) => !button.hidden);
    renderer.prependEvents([event(10, steered), event(11, asked), event(12, lost), ...end.map((response, index) => event(13 + index, response))]);
    const before = visible().length;
    renderer.prependEvents([event(5, { callback: "onIdle" }), event(6, prompt), event(7, { callback: "onAgentStart", turnId: "0" })]);
    visible()[0].click();
    return { before, after: visible().length, sent };
  }, [prompt(2), prompt(3), asked, lost, end]);
  assert.deepEqual(seen, { before: 0, after: 1, sent: ["prompt-2"] });
});

test("an error shows the agent's own words behind Details", async () => {
  const { page } = await pageWith([prompt(2), start("0"), failed, ...end]);
  const error = page.locator(".session-error");
  await waitForText(error.locator(".session-error-text"), "Failed the service is overloaded");
  assert.ok(await error.locator("pre").isHidden());
  await error.getByText("Details").click();
  await waitForText(error.locator("pre"), /HTTP 529/);
});
