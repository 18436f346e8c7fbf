// What a session tells besides its answers: notices, banners, figures.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStub, blocks, choose, openSession, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

/** A page whose next live answer holds these responses, as a session with that fate would get them. */
async function pageHearing(responses) {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const page = await (await deck.openContext()).newPage();
  // What the server really says about its sessions would contradict the responses.
  await page.route(/\/api\/events$/, () => {});
  let release;
  const isShown = new Promise((resolve) => {
    release = resolve;
  });
  let sent = false;
  await page.route(/\/live\//, async (route) => {
    // The next call waits, as it does while there is nothing new.
    if (sent) return undefined;
    sent = true;
    await isShown;
    const after = Number(new URL(route.request().url()).searchParams.get("after"));
    return route.fulfill({ json: { responses, lastSeq: after + responses.length } });
  });
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  release();
  return { id, page };
}

const notice = (kind, message) => ({ callback: "onNotice", kind, message });

test("what is more than news stands above the session until it is dismissed", async () => {
  const { page } = await pageHearing([
    notice("incomplete", "The last message may be incomplete."),
    notice("compaction", "The conversation was compacted from 9 to 3 tokens."),
  ]);
  await waitForText(page.locator('[data-banner="notice-incomplete"] .banner-text'), "The last message may be incomplete.");
  await waitForText(page.locator('.session-notice[data-kind="compaction"]'), /compacted/);
  assert.equal(await page.locator(".banner").count(), 1, "what is only news is a line in the session");
  await page.locator('[data-banner="notice-incomplete"]').getByRole("button", { name: "Dismiss" }).click();
  assert.equal(await page.locator(".banner").count(), 0);
});

test("a lost agent session stands above it until it is dismissed, over reloads, and the next loss shows again", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const context = await deck.openContext();
  const lost = (message) => ({ callback: "onNotice", kind: "fresh-session", message, detail: "Error: ENOENT session.jsonl\u202E" });
  const log = await LogStub.use({ deck, context, id, responses: [lost("The agent lost its session and started a new one.")] });
  const page = await context.newPage();
  const banner = page.locator('[data-banner="notice-fresh-session"]');
  const open = async () => {
    await page.goto(`${deck.server.url}/?session=${id}`);
    await shown(page);
    await page.locator(".session-notice, .message-block").first().waitFor();
  };
  await open();
  await waitForText(banner.locator(".banner-text"), "The agent lost its session and started a new one.");
  assert.ok(await banner.locator("pre").isHidden(), "the raw text is behind Details");
  await banner.getByText("Details").click();
  await waitForText(banner.locator("pre"), "Error: ENOENT session.jsonlU+202E");
  const line = page.locator('.session-notice[data-kind="fresh-session"]');
  await line.getByText("Details").click();
  await waitForText(line.locator("pre"), /ENOENT/);

  log.add(...Array.from({ length: 100 }, (_, number) => notice("info", `news ${number}`)));
  await open();
  await banner.waitFor();
  await banner.getByRole("button", { name: "Dismiss" }).click();
  await banner.waitFor({ state: "detached" });
  await open();
  assert.equal(await banner.count(), 0, "dismissed for good");

  log.add(lost("It was lost once more."));
  await waitForText(banner.locator(".banner-text"), "It was lost once more.");
  await open();
  await waitForText(banner.locator(".banner-text"), "It was lost once more.");
  const other = await openSession(deck, await deck.server.session());
  assert.equal(await other.locator('[data-banner="notice-fresh-session"]').count(), 0, "only where it happened");
});

test("a loss that this browser never loaded stands above the session too", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const context = await deck.openContext();
  const lostSession = { seq: 3, message: "The agent lost its session long ago.", detail: "ENOENT" };
  await context.route(new RegExp(`/session/${id}$`), async (route) => {
    const response = await route.fetch();
    return route.fulfill({ response, json: { ...(await response.json()), lostSession } });
  });
  const page = await context.newPage();
  const banner = page.locator('[data-banner="notice-fresh-session"]');
  const open = async () => {
    await page.goto(`${deck.server.url}/?session=${id}`);
    await shown(page);
    await page.locator(".message-block").first().waitFor();
  };
  await open();
  await waitForText(banner.locator(".banner-text"), "The agent lost its session long ago.");
  await banner.getByRole("button", { name: "Dismiss" }).click();
  await open();
  assert.equal(await banner.count(), 0, "dismissed for good");
});

test("a queue that waits after the agent was lost is sent with a button", async () => {
  const { sessionId: id } = await (await deck.openContext()).newPage().then(async (page) => {
    // Only sessions that a person started hold their queue.
    await page.goto(`${deck.server.url}/`);
    return page.evaluate(async (workingDirectory) => {
      const { ask } = await import("/lib/api.js");
      return ask("api/copilot/session", { json: { model: "demo", workingDirectory, permissionMode: "ask" } });
    }, deck.server.workFolder);
  });
  const page = await openSession(deck, id);
  for (const text of ["permission", "crash", "hello"]) await deck.server.call("POST", `copilot/session/${id}/prompt`, { text });
  await page.locator(".request-choice").first().waitFor();
  await choose(page, 3);
  const held = page.locator('.session-notice[data-kind="queue-held"]');
  await waitForText(held.locator(".session-notice-text"), /^1 queued prompt waits/);
  const button = held.getByRole("button", { name: "Send queued prompts" });
  await page.reload();
  await button.click();
  await waitForText(blocks(page, "Message").last(), /hello|demo/i);
  await button.waitFor({ state: "hidden" });
  const turns = (await deck.server.log(id)).filter(({ response }) => response.callback === "onAgentStart");
  assert.deepEqual(turns.map(({ response }) => response.turnId), ["turn-1", "turn-2", "turn-3"]);
});

test("retries are one line that counts", async () => {
  deck.expectConsoleErrors(/block\/\d+\.html/);
  const retry = (attempt) => notice("retrying", `The service is overloaded. Retrying in 2s (attempt ${attempt} of 5).`);
  const { page } = await pageHearing([
    { callback: "onUserPrompt", promptId: "prompt-2", text: "go", queued: false },
    retry(2),
    { callback: "onAgentStart", turnId: "turn-2" },
    { callback: "onStartMessage", messageId: "m" },
    { callback: "onEndMessage", messageId: "m", completeContent: "half", incomplete: true },
    { ...retry(3), detail: "HTTP 529" },
    retry(4),
    { callback: "onIdle" },
    retry(2),
  ]);
  const lines = page.locator('.session-notice[data-kind="retrying"]');
  await waitFor(async () => (await lines.count()) === 2, "a line for each turn");
  await waitForText(lines.first().locator(".session-notice-text"), "The service is overloaded. Retrying in 2s (attempt 4 of 5). (3 retries)");
  await waitForText(lines.last().locator(".session-notice-text"), /attempt 2 of 5\)\.$/);
});

test("what was abandoned is marked, and what is empty is not shown", async () => {
  deck.expectConsoleErrors(/block\/\d+\.html/);
  const { page } = await pageHearing([
    { callback: "onUserPrompt", promptId: "prompt-2", text: "go", queued: false },
    { callback: "onStartReasoning", reasoningId: "empty" },
    { callback: "onEndReasoning", reasoningId: "empty", completeContent: " \n" },
    { callback: "onGeneratedUserPrompt", prompt: "  " },
    { callback: "onStartMessage", messageId: "cut" },
    { callback: "onMessage", messageId: "cut", delta: "The answer is" },
    { callback: "onEndMessage", messageId: "cut", completeContent: "The answer is", incomplete: true },
    { callback: "onStartMessage", messageId: "whole" },
    { callback: "onEndMessage", messageId: "whole", completeContent: "The answer is 42." },
    { callback: "onIdle" },
  ]);
  await waitFor(async () => (await page.locator('.message-block[data-type="Message"]').count()) === 3, "the messages");
  assert.equal(await page.locator('.message-block[data-type="Reasoning"]:visible').count(), 0);
  assert.equal(await page.locator('.message-block[data-type="User"]').count(), 2, "the two prompts");
  const cut = page.locator(".message-block.incomplete");
  assert.equal(await cut.count(), 1);
  await waitForText(cut.locator(".message-block-outcome"), "incomplete");
  assert.match(await cut.locator(".message-block-outcome").getAttribute("title"), /not part of the answer/);
});

test("reasoning appears with its first word", async () => {
  const page = await deck.openPage("/test.html");
  const hidden = await page.evaluate(async () => {
    const { SessionResponseRenderer } = await import("/sessionResponse.js");
    const part = document.createElement("div");
    const renderer = new SessionResponseRenderer(part);
    const seen = [];
    const feed = (data) => {
      renderer.processCallback(data);
      seen.push(part.querySelector(".message-block").hidden);
    };
    feed({ callback: "onStartReasoning", reasoningId: "r" });
    feed({ callback: "onReasoning", reasoningId: "r", delta: "\n" });
    feed({ callback: "onReasoning", reasoningId: "r", delta: "Hm" });
    feed({ callback: "onEndReasoning", reasoningId: "r", completeContent: "Hm" });
    return seen;
  });
  assert.deepEqual(hidden, [true, true, false, false]);
});

test("retries of a turn are one line that counts", async () => {
  const { page } = await pageHearing([
    { callback: "onAgentStart", turnId: "t" },
    notice("retrying", "The model failed. Retrying..."),
    notice("retrying", "The model failed. Retried 5 times."),
    { callback: "onIdle" },
  ]);
  await waitForText(page.locator('.session-notice[data-kind="retrying"]'), "The model failed. Retried 5 times.");
  assert.equal(await page.locator('.session-notice[data-kind="retrying"]').count(), 1);
});

test("usage adds up and the context shows how full it is", async () => {
  const usage = (inputTokens, outputTokens) => ({ callback: "onUsage", costUsd: null, inputTokens, outputTokens, cacheRead: null, cacheCreation: null, durationMs: 10, numTurns: 1, premiumRequests: 1 });
  const { page } = await pageHearing([
    { callback: "onAgentStart", turnId: "t" },
    usage(3000, 100),
    usage(1100, 20),
    { callback: "onContextUsage", currentTokens: 32_000, tokenLimit: 128_000 },
    { callback: "onBackgroundTasks", tasks: [{ id: "1", kind: "shell", description: "watching files", status: "running" }] },
    { callback: "onIdle" },
  ]);
  await waitForText(page.locator(".turn-end").last(), /4\.1k tokens in · 120 out · 2 model calls · 2 premium requests/);
  await waitForText(page.locator(".fact-context"), "32k / 128k");
  assert.equal(await page.locator(".fact-context meter").getAttribute("value"), "0.25");
  await page.evaluate(() => document.querySelector("#details-button").click());
  await waitForText(page.locator(".details-facts"), /watching files \(running\)/);
});

test("an agent that is being brought back, and one that was given up, are said with the way on", async () => {
  const lost = await pageHearing([{ callback: "onStateChanged", state: "recovering", detail: "it crashed" }]);
  await waitForText(lost.page.locator('[data-banner="state"] .banner-text'), /stopped and is being restarted\. it crashed/);
  await waitForText(lost.page.locator("#session-state"), "Recovering");
  const failed = await pageHearing([
    { callback: "onUserPrompt", promptId: "prompt-2", text: "hello", queued: false },
    { callback: "onStateChanged", state: "failed", detail: "given up after 5 attempts" },
  ]);
  await waitForText(failed.page.locator('[data-banner="state"] .banner-text'), /agent failed\. given up after 5 attempts/);
  await failed.page.locator('[data-banner="state"]').getByRole("button", { name: "Retry" }).waitFor();
  assert.ok(await failed.page.locator("#send-button").isEnabled(), "a new request tries again too");
});
