// Jobs from their choice to their end, on a real server with the demo agent.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { checkAccessibility, reconnect, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { ENTRY, gateCard, jobWhen, makeFolder, node, nodeSays, openJob, startJob } from "./support/realJobs.mjs";

const deck = useDeck({ jobs: ENTRY });

const status = (page, text) => waitForText(page.locator("#job-status-label"), `JOB: ${text}`);
const tabs = (page) => page.locator(".tab-container .tab-header-btn");
const panel = (page) => page.locator(".tab-panel:not([hidden])");

test("a job is chosen, previewed, started, answered and followed to its end", async () => {
  const folder = await makeFolder(deck.server);
  const context = await deck.openContext();
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobs.html?wb=${encodeURIComponent(folder)}`);
  await page.locator('.matrix-job-btn[data-job-name="feature"]').click();
  await page.locator("#user-input-textarea").fill("tool");
  const [preview] = await Promise.all([context.waitForEvent("page"), page.locator("#preview-button").click()]);
  await preview.locator("g.node").first().waitFor();
  await status(preview, "PREVIEW");
  const definition = JSON.parse(await preview.locator("#session-response-part").textContent());
  assert.equal(definition.chart.nodes.length, await preview.locator("g.node").count());
  assert.equal(definition.job.work.works[0].taskId, "plan");
  await node(preview, 0).click();
  await waitForText(preview.locator(".work-text pre"), "tool");

  const [tab] = await Promise.all([context.waitForEvent("page"), page.locator("#start-job-button").click()]);
  await nodeSays(tab, 0, "plan, succeeded");
  // The second step asks; the page says so before anything is chosen.
  await nodeSays(tab, 1, "ask-first, needs your input");
  await status(tab, "RUNNING");
  assert.deepEqual(JSON.parse(await tab.locator("#session-response-part").textContent()), definition, "the same as in the preview");
  await waitForText(tab.locator("#job-waiting-button"), "1 step needs your input");
  await tab.locator("#job-waiting-button").click();
  assert.equal(await node(tab, 1).locator(".node-shape").evaluate((shape) => shape.style.strokeWidth), "5px");
  await tab.locator(".request-block.waiting:not(:has([aria-disabled]))").waitFor();
  await tab.keyboard.press("Alt+a");
  await tab.keyboard.press("1");
  await waitForText(tab.locator(".request-verdict"), "Allowed once");

  // The loop runs twice: the first final review fails.
  await nodeSays(tab, 2, "final-review, condition, succeeded, run 2");
  await nodeSays(tab, 5, "Commit these changes?, gate, needs your input");
  await nodeSays(tab, 7, "greet, not started");
  await node(tab, 2).click();
  assert.deepEqual(await tab.locator(".work-runs option").allTextContents(), ["Run 1 of 2 · Failed", "Run 2 of 2 · Succeeded"]);
  await panel(tab).locator('.task-decision[data-decision="TASK SUCCEEDED"]').waitFor();
  await tab.locator(".work-runs").selectOption("0");
  await panel(tab).locator('.task-decision[data-decision="TASK FAILED"]').waitFor();
  await panel(tab).locator(".message-block[data-type=Message] h1").waitFor();
  await tab.keyboard.press("Escape");

  await gateCard(tab).getByRole("button", { name: "Approve" }).click();
  await status(tab, "SUCCEEDED");
  await nodeSays(tab, 7, "greet, succeeded");
  assert.ok(await tab.locator("#stop-job-button").isDisabled());
  assert.ok(await tab.locator("#waiting-part").isHidden());
  await tab.reload();
  await nodeSays(tab, 7, "greet, succeeded");
});

test("a node is chosen by click and by keys, and shows decisions and the transcript", async () => {
  const workingDirectory = await makeFolder(deck.server);
  const jobId = await startJob(deck.server, "permission", { workingDirectory });
  const page = await openJob(deck, "permission", jobId);
  await nodeSays(page, 0, "ask-first, needs your input");
  await page.locator('g.node[tabindex="0"]').focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.deepEqual(await tabs(page).allTextContents(), ["Driving"]);
  await waitForText(page.locator(".work-empty"), "This step has not started yet.");
  await node(page, 0).click();
  await panel(page).locator('.task-decision[data-decision="SESSION STARTED"]').waitFor();
  await panel(page).locator(".message-block[data-type=Tool]").waitFor();
  await panel(page).locator(".request-block.waiting:not(:has([aria-disabled]))").getByRole("button", { name: "Allow once" }).click();
  await status(page, "SUCCEEDED");
  await panel(page).locator('.task-decision[data-decision="TASK SUCCEEDED"]').waitFor();
  await waitForText(panel(page).locator(".session-line .state-word"), "Closed");
  // The prompt that the task sent stands in its transcript.
  await waitForText(panel(page).locator(".message-block[data-type=User]:not(.task-decision)").first(), /permission/);
});

test("each session of a task that has several is a tab", async () => {
  const workingDirectory = await makeFolder(deck.server);
  const jobId = await startJob(deck.server, "attempts", { workingDirectory });
  const page = await openJob(deck, "attempts", jobId);
  await node(page, 0).click();
  await status(page, "SUCCEEDED");
  await waitFor(async () => (await tabs(page).count()) === 3, "three tabs");
  assert.deepEqual(await tabs(page).allTextContents(), ["Driving", "Attempt #1", "Attempt #2"]);
  await waitFor(async () => (await panel(page).locator('.task-decision[data-decision="CRITERIA"]').count()) >= 2, "the decisions about both");
  for (const number of [1, 2]) {
    await tabs(page).nth(number).click();
    await panel(page).locator(".message-block[data-type=Message]").waitFor();
  }
  await waitForText(panel(page), /Again\./);
});

test("a job that failed is retried on the open page", async () => {
  const workingDirectory = await makeFolder(deck.server);
  const jobId = await startJob(deck.server, "strict", { workingDirectory });
  const page = await openJob(deck, "strict", jobId);
  await status(page, "FAILED");
  await nodeSays(page, 1, "needs-file, failed");
  await nodeSays(page, 2, "greet, not started");
  await node(page, 1).click();
  await panel(page).locator('.task-decision[data-decision="TASK FAILED"]').waitFor();
  await writeFile(path.join(workingDirectory, "ready"), "");
  await page.locator("#retry-job-button").click();
  await status(page, "SUCCEEDED");
  await nodeSays(page, 0, "greet, succeeded");
  await nodeSays(page, 2, "greet, succeeded");
  await waitForText(page.locator(".work-head .state-word"), "Succeeded");
  const { works } = await deck.server.call("GET", `jobs/${jobId}`);
  assert.equal(works.find(({ workId }) => workId === 0).attempts.length, 1, "what had succeeded is not done again");
});

test("a job is stopped and continued", async () => {
  const workingDirectory = await makeFolder(deck.server);
  const jobId = await startJob(deck.server, "permission", { workingDirectory });
  const page = await openJob(deck, "permission", jobId);
  await nodeSays(page, 0, "ask-first, needs your input");
  await page.locator("#stop-job-button").click();
  await status(page, "CANCELED");
  await page.locator("#job-waiting-button").waitFor({ state: "hidden" });
  assert.ok(await page.locator("#stop-job-button").isDisabled());
  await page.locator("#retry-job-button").click();
  await status(page, "RUNNING");
  await nodeSays(page, 0, "ask-first, needs your input, run 2");
  await page.locator("#job-waiting-button").click();
  await page.locator(".request-block.waiting:not(:has([aria-disabled]))").getByRole("button", { name: "Allow once" }).click();
  await status(page, "SUCCEEDED");
});

test("a job that is retried elsewhere continues here", async () => {
  const workingDirectory = await makeFolder(deck.server);
  const jobId = await startJob(deck.server, "strict", { workingDirectory });
  const page = await openJob(deck, "strict", jobId);
  await status(page, "FAILED");
  await writeFile(path.join(workingDirectory, "ready"), "");
  await deck.server.call("POST", `jobs/${jobId}/retry`);
  await status(page, "SUCCEEDED");
});

test("the page outlives a killed server, and the job goes on where it was", async () => {
  deck.expectConsoleErrors(/ERR_|Failed to load/);
  const workingDirectory = await makeFolder(deck.server);
  const jobId = await startJob(deck.server, "permission", { workingDirectory });
  const page = await openJob(deck, "permission", jobId);
  await nodeSays(page, 0, "ask-first, needs your input");
  await node(page, 0).click();
  await page.locator(".request-block.waiting:not(:has([aria-disabled]))").waitFor();
  await deck.server.kill();
  await waitForText(page.locator('[data-banner="connection"]'), /not respond|lost/);
  await status(page, "RUNNING");
  await deck.server.startAgain();
  await reconnect(page);
  await page.locator(".request-block.waiting:not(:has([aria-disabled]))").getByRole("button", { name: "Allow once" }).click();
  await status(page, "SUCCEEDED");
  await nodeSays(page, 1, "greet, succeeded");
  const { works } = await deck.server.call("GET", `jobs/${jobId}`);
  assert.deepEqual(works.map(({ attempts }) => attempts.length), [1, 1]);
});

/** A step that must not run twice, interrupted by `kill -9` of the server: a page on which the job asks what to do. */
async function interruptedJob() {
  deck.expectConsoleErrors(/ERR_|Failed to load/);
  const workingDirectory = await makeFolder(deck.server);
  const jobId = await startJob(deck.server, "careful", { workingDirectory });
  const page = await openJob(deck, "careful", jobId);
  await node(page, 0).click();
  await panel(page).locator(".message-block.receiving").waitFor();
  await deck.server.kill();
  await page.locator('[data-banner="connection"]').waitFor();
  await deck.server.startAgain();
  await reconnect(page);
  await waitForText(gateCard(page), /Interrupted[\s\S]*server was restarted/);
  return { page, jobId };
}

test("an interrupted step that must not run twice asks first, and fails if it should", async () => {
  const { page, jobId } = await interruptedJob();
  await gateCard(page).getByRole("button", { name: "Fail" }).click();
  await status(page, "FAILED");
  await jobWhen(deck.server, jobId, ({ status: is }) => is === "Failed");
});

test("an interrupted step continues when somebody says so", async () => {
  const { page, jobId } = await interruptedJob();
  await gateCard(page).getByRole("button", { name: "Continue" }).click();
  await status(page, "SUCCEEDED");
  await page.locator(".gate-request").waitFor({ state: "detached" });
  await nodeSays(page, 0, "careful, succeeded");
  const { works } = await deck.server.call("GET", `jobs/${jobId}`);
  assert.equal(works[0].attempts.length, 1, "the same run went on");
});

test("another model for a category is used, and a wrong category is not offered", async () => {
  const folder = await makeFolder(deck.server);
  const context = await deck.openContext();
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobs.html?wb=${encodeURIComponent(folder)}`);
  await page.locator('.matrix-job-btn[data-job-name="plan"]').click();
  await page.locator("#models-part summary").click();
  assert.deepEqual(await page.locator("#models-list label").allTextContents(), ["driving", "writing"]);
  await waitFor(() => page.locator('#model-names option[value="demo-slow"]').count(), "suggestions");
  const box = page.getByLabel("writing", { exact: true });
  assert.equal(await box.getAttribute("placeholder"), "demo");
  await box.fill("demo-slow");
  await waitForText(page.locator("#models-part summary"), "Models · 1 change");
  await checkAccessibility(page, "models");
  await page.locator("#user-input-textarea").fill("hello");
  const [preview] = await Promise.all([context.waitForEvent("page"), page.locator("#preview-button").click()]);
  await node(preview, 0).click();
  await waitForText(preview.locator(".work-facts dd").first(), /demo-slow/);
  const [tab] = await Promise.all([context.waitForEvent("page"), page.locator("#start-job-button").click()]);
  await tab.waitForURL(/jobId=/, { waitUntil: "commit" });
  const jobId = new URL(tab.url()).searchParams.get("jobId");
  const { works } = await jobWhen(deck.server, jobId, ({ status: is }) => is === "Succeeded");
  assert.equal(works[0].attempts[0].sessions[0].model, "demo-slow");
});
