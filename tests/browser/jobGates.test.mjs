// Gates of real jobs: the person who answers has seen what it is about.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { useDeck, waitFor, waitForText } from "./support/index.mjs";
import { ENTRY, gateCard, jobWhen, makeFolder, node, nodeSays, openJob, startJob } from "./support/realJobs.mjs";

const deck = useDeck({ jobs: ENTRY });

const status = (page, text) => waitForText(page.locator("#job-status-label"), `JOB: ${text}`);
const button = (page, name) => gateCard(page).getByRole("button", { name });

/** A job that waits at its gate. Gives its id and folder. */
async function waitingJob(jobName = "gate", settings = { git: true, files: { "a.txt": "one\n" } }) {
  const workingDirectory = await makeFolder(deck.server, settings);
  const jobId = await startJob(deck.server, jobName, { workingDirectory });
  await jobWhen(deck.server, jobId, ({ waiting }) => waiting.length === 1);
  return { jobId, workingDirectory };
}

test("a gate is approved on the page", async () => {
  const { jobId } = await waitingJob();
  const page = await openJob(deck, "gate", jobId);
  await waitForText(gateCard(page).locator(".request-title"), "Gate Commit these changes?");
  await waitForText(gateCard(page).locator(".request-rendered em"), "changed files");
  await waitForText(gateCard(page).locator(".gate-works"), /Succeeded greet/);
  await waitForText(gateCard(page), /No files have changed\./);
  await button(page, "Approve").click();
  await status(page, "SUCCEEDED");
  await node(page, 1).click();
  await waitForText(page.locator(".gate-answer"), /Approved in the browser/);
});

test("a gate that is rejected with a note has the work revised, and asks again", async () => {
  const workingDirectory = await makeFolder(deck.server, { git: true });
  const jobId = await startJob(deck.server, "feature", { workingDirectory, userInput: "hello" });
  const page = await openJob(deck, "feature", jobId);
  await page.locator("#job-waiting-button").click();
  await page.locator(".request-block.waiting:not(:has([aria-disabled]))").getByRole("button", { name: "Allow once" }).click();
  await gateCard(page).locator(".gate-note-input").fill("Say it in one word.");
  const [first] = (await deck.server.call("GET", `jobs/${jobId}`)).waiting;
  await button(page, "Reject").click();
  const gate = await jobWhen(deck.server, jobId, ({ waiting }) => waiting.length === 1 && waiting[0].waitingId !== first.waitingId);
  const revise = gate.chart.find(({ label }) => label === "revise").hint[1];
  await nodeSays(page, revise, "revise, succeeded");
  await node(page, revise).click();
  await waitForText(page.locator(".tab-panel:not([hidden]) .message-block[data-type=User]:not(.task-decision)"), /The note was: Say it in one word\./);
  await node(page, first.workId).click();
  await waitForText(page.locator(".work-runs"), /Run 1 of 2 · Failed/);
  await page.locator(".work-runs").selectOption("0");
  await waitForText(page.locator(".gate-answer"), /Rejected in the browser[\s\S]*Say it in one word\./);
  await button(page, "Approve").click();
  await status(page, "SUCCEEDED");
});

test("without a way on, a rejection fails the job", async () => {
  const { jobId } = await waitingJob();
  const page = await openJob(deck, "gate", jobId);
  await button(page, "Reject").click();
  await status(page, "FAILED");
  await nodeSays(page, 2, "greet, not started");
});

test("what changes while the gate waits is shown before it can be approved", async () => {
  deck.expectConsoleErrors(/409/);
  const { jobId, workingDirectory } = await waitingJob();
  const page = await openJob(deck, "gate", jobId);
  await gateCard(page).waitFor();
  await gateCard(page).locator(".gate-note-input").fill("fine");
  await writeFile(path.join(workingDirectory, "a.txt"), "one\ntwo\n");
  await button(page, "Approve").click();
  await waitForText(page.locator(".gate-changed"), /has changed since it was shown/);
  await gateCard(page).waitFor();
  assert.deepEqual(await gateCard(page).locator(".gate-file").evaluateAll((all) => all.map((file) => [...file.children].map(({ textContent }) => textContent))), [["M", "a.txt", "+1", ""]]);
  assert.equal(await gateCard(page).locator(".gate-note-input").inputValue(), "fine");
  await status(page, "RUNNING");
  await button(page, "Approve").click();
  await status(page, "SUCCEEDED");
});

test("a gate that is answered elsewhere goes away here", async () => {
  const { jobId } = await waitingJob();
  const context = await deck.openContext();
  const [one, other] = [await openJob(deck, "gate", jobId, context), await openJob(deck, "gate", jobId, context)];
  await gateCard(one).waitFor();
  await button(other, "Approve").click();
  await status(other, "SUCCEEDED");
  await status(one, "SUCCEEDED");
  assert.equal(await one.locator(".gate-request").count(), 0);
});

test("who answers too late is told by whom it was answered", async () => {
  deck.expectConsoleErrors(/409/);
  const { jobId } = await waitingJob();
  const context = await deck.openContext();
  const page = await openJob(deck, "gate", jobId, context);
  await gateCard(page).waitFor();
  // This page hears late of what happens.
  let goOn;
  const late = new Promise((resolve) => {
    goOn = resolve;
  });
  await context.route(new RegExp(`/api/jobs/${jobId}$`), async (route) => {
    await late;
    await route.fallback();
  });
  const [{ waitingId, digest }] = (await deck.server.call("GET", `jobs/${jobId}`)).waiting;
  await deck.server.call("POST", `jobs/${jobId}/approve`, { waitingId, digest });
  await button(page, "Reject").click();
  await waitForText(page.locator('[data-banner="gate-closed"]'), /approved/i);
  goOn();
  await page.locator(".gate-request").waitFor({ state: "detached" });
  await status(page, "SUCCEEDED");
});

test("the inbox shows a waiting gate and leads to it", async () => {
  const { jobId } = await waitingJob();
  const page = await deck.openPage("/");
  await waitFor(async () => (await page.locator("#inbox-count").textContent()) === "1", "the count");
  await page.keyboard.press("Alt+i");
  const entry = page.locator(".inbox-job");
  await waitForText(entry, /gate[\s\S]*Needs your input[\s\S]*Gate[\s\S]*Commit these changes\?/);
  await entry.click();
  await page.waitForURL((url) => url.pathname === "/jobTracking.html" && url.searchParams.get("jobId") === jobId);
  await button(page, "Approve").click();
  await status(page, "SUCCEEDED");
  await page.locator("#inbox-count").waitFor({ state: "hidden" });
});

test("jobs that run appear on the set-up page, and change there, without a reload", async () => {
  const page = await deck.openPage("/");
  await page.locator("#running-jobs-list :is(.running-job-item, .empty)").first().waitFor();
  const { jobId } = await waitingJob();
  const item = page.locator(`.running-job-item[data-job="${jobId}"]`);
  await waitForText(item.locator(".running-job-status"), "Needs your input");
  const view = page.context().waitForEvent("page");
  await item.locator(".running-job-view-btn").click();
  const tab = await view;
  await button(tab, "Approve").click();
  await waitForText(item.locator(".running-job-status.running-job-status-succeeded"), "Succeeded");
});
