// What a session tells besides its answers: notices, banners, figures.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession, useDeck, waitForText } from "./support/index.mjs";

const deck = useDeck();

/** A page whose next live answer holds these responses, as a session with that fate would get them. */
async function pageHearing(responses) {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const page = await openSession(deck, id);
  let sent = false;
  await page.route(/\/live\//, async (route) => {
    if (sent) return route.fulfill({ json: { error: "HttpRequestTimeout" } });
    sent = true;
    const after = Number(new URL(route.request().url()).searchParams.get("after"));
    return route.fulfill({ json: { responses, lastSeq: after + responses.length } });
  });
  return { id, page };
}

const notice = (kind, message) => ({ callback: "onNotice", kind, message });

test("a lost memory, a missing login and silence stand above the session until they are put away", async () => {
  const { page } = await pageHearing([
    notice("fresh-session", "The previous session could not be restored; a new one was started. Your history is intact."),
    notice("incomplete", "The last message may be incomplete."),
    notice("compaction", "The conversation was compacted from 9 to 3 tokens."),
  ]);
  await waitForText(page.locator('[data-banner="notice-fresh-session"] .banner-text'), /could not be restored.*history is intact/);
  await waitForText(page.locator('.session-notice[data-kind="compaction"]'), /compacted/);
  assert.equal(await page.locator(".banner").count(), 2, "what is only news is a line in the session");
  await page.locator('[data-banner="notice-fresh-session"]').getByRole("button", { name: "Dismiss" }).click();
  assert.equal(await page.locator('[data-banner="notice-fresh-session"]').count(), 0);
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
  await failed.page.locator('[data-banner="state"]').getByRole("button", { name: "Send the prompt again" }).waitFor();
  assert.ok(await failed.page.locator("#send-button").isEnabled(), "a new request tries again too");
});

test("a permission whose agent is gone offers the prompt again", async () => {
  const { id, page } = await pageHearing([
    { callback: "onPermissionRequested", requestId: "r", kind: "shell", title: "May I?", detail: "ls", options: ["allow-once", "deny"] },
    { callback: "onPermissionAnswered", requestId: "r", decision: "agent-gone", by: "restart" },
    { callback: "onIdle" },
  ]);
  await waitForText(page.locator(".request-verdict"), "The agent stopped");
  const answered = page.waitForResponse(/\/prompt$/);
  await page.getByRole("button", { name: "Send the prompt again" }).click();
  await answered;
  const prompts = async () => (await deck.server.log(id)).filter(({ response }) => response.callback === "onUserPrompt").map(({ response }) => response.text);
  assert.deepEqual(await prompts(), ["hello", "hello"]);
});
