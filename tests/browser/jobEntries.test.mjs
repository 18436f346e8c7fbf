// Where jobs come from, on a real server: the built-in entry, that of a folder, and tasks in a session.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { openSession, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { ENTRY, makeFolder, node } from "./support/realJobs.mjs";

const deck = useDeck({ jobs: "built-in" });

/** A folder with an entry of its own. */
const withEntry = (entry) => makeFolder(deck.server, { files: { ".flightdeck/jobs.json": typeof entry === "string" ? entry : JSON.stringify(entry) } });

async function openJobs(folder) {
  const page = await deck.openPage(`/jobs.html?wb=${encodeURIComponent(folder)}`);
  await page.locator(".matrix-job-btn").first().waitFor();
  return page;
}

const keywords = (page) => page.locator(".matrix-keyword").allTextContents();

test("the built-in jobs are listed, and each can be previewed", async () => {
  const folder = await makeFolder(deck.server);
  const page = await openJobs(folder);
  assert.deepEqual(await keywords(page), ["Understand", "Change", "Finish"]);
  await waitForText(page.locator(".entry-line"), "Jobs from the built-in entry");
  for (const name of ["ask", "code", "feature", "review", "commit"]) {
    await page.goto(`${deck.server.url}/jobTracking.html?${new URLSearchParams({ jobName: name, wb: folder })}`);
    await node(page, 0).click();
    await page.locator(".work-preview .work-facts").waitFor();
  }
});

test("a folder's own jobs count once somebody has seen what they may do and trusts them", async () => {
  const folder = await withEntry(ENTRY);
  const page = await openJobs(folder);
  await waitForText(page.locator(".entry-own h2"), /not trusted yet/);
  await waitForText(page.locator(".entry-allowances"), /ask-first[\s\S]*asks you/);
  await waitForText(page.locator(".entry-allowances"), /needs-file[\s\S]*test -e ready/);
  assert.deepEqual(await keywords(page), ["Understand", "Change", "Finish"]);
  await page.locator("#trust-button").click();
  await waitForText(page.locator(".entry-line"), /^Jobs from this folder's entry/);
  await waitFor(async () => (await keywords(page)).join() === "Change,Small", "its own jobs");
  assert.equal(await page.locator(".entry-own").count(), 0);
  await page.locator('.matrix-job-btn[data-job-name="plan"]').click();
  await page.locator("#user-input-textarea").fill("hello");
  const [tab] = await Promise.all([page.context().waitForEvent("page"), page.locator("#start-job-button").click()]);
  await waitForText(tab.locator("#job-status-label"), "JOB: SUCCEEDED");
  // A change asks again.
  await writeFile(path.join(folder, ".flightdeck/jobs.json"), JSON.stringify({ ...ENTRY, grid: [] }));
  await page.reload();
  await waitForText(page.locator(".entry-own h2"), /not trusted yet/);
});

test("an entry that changes while it is looked at is shown again instead of trusted", async () => {
  deck.expectConsoleErrors(/409/);
  const folder = await withEntry(ENTRY);
  const page = await openJobs(folder);
  await page.locator("#trust-button").waitFor();
  const tasks = { ...ENTRY.tasks, greet: { ...ENTRY.tasks.greet, permissions: { mode: "allow-all" } } };
  await writeFile(path.join(folder, ".flightdeck/jobs.json"), JSON.stringify({ ...ENTRY, tasks }));
  await page.locator("#trust-button").click();
  await waitForText(page.locator(".entry-own"), /has changed since you looked[\s\S]*everything, without asking/);
});

test("an invalid entry lists what is wrong, and the built-in jobs stay", async () => {
  const folder = await withEntry({ ...ENTRY, drivingSessionRetries: [], grid: [{ keyword: "x", jobs: [{ name: "x", jobName: "none" }] }] });
  const page = await openJobs(folder);
  await waitForText(page.locator(".entry-own h2"), /invalid/);
  const problems = await page.locator(".entry-own .entry-problem").allTextContents();
  assert.deepEqual(problems.map((text) => text.split(" ").slice(0, 2)), [["Error", "entry.drivingSessionRetries"], ["Error", "entry.grid[0].jobs[0].jobName"]]);
  assert.deepEqual(await keywords(page), ["Understand", "Change", "Finish"]);
});

test("a file that is no JSON is a problem, not an empty page", async () => {
  const page = await openJobs(await withEntry("{ nothing"));
  await page.locator(".entry-own .entry-problem").first().waitFor();
});

test("a task runs in the session that chose it, with its decisions", async () => {
  const workingDirectory = await withEntry(ENTRY);
  const { path: file, hash } = await deck.server.call("GET", `jobs/entry?${new URLSearchParams({ workingDirectory })}`);
  await deck.server.call("POST", "jobs/trust", { path: file, hash });
  const page = await openSession(deck, await deck.server.session({ workingDirectory }));
  await waitFor(async () => (await page.locator("#task-select option").count()) === Object.keys(ENTRY.tasks).length + 1, "the tasks");
  await page.locator("#task-select").selectOption("plan");
  await page.locator("#attach-input").setInputFiles([{ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") }]);
  await page.locator(".attachment").waitFor();
  await page.locator("#request-textarea").fill("reason");
  await page.keyboard.press("Control+Enter");
  await waitForText(page.locator(".task-decision").last(), /succeeded/i);
  assert.equal(await page.locator("#attachment-list .attachment").count(), 1, "a task takes no files, so they wait for a request");
  await page.locator(".message-block[data-type=Reasoning]").waitFor();
  await waitForText(page.locator(".message-block[data-type=User]:not(.task-decision)"), /reason/);
  assert.equal(await page.locator("#task-select").inputValue(), "");
});

test("the decisions of tasks are where they were after a reload, of those that run and those that are over", async () => {
  const workingDirectory = await withEntry({ ...ENTRY, tasks: { ...ENTRY.tasks, "ask-first": { ...ENTRY.tasks["ask-first"], criteria: { command: { run: ["true"] }, failureAction: { retryTimes: 0 } } } } });
  const { path: file, hash } = await deck.server.call("GET", `jobs/entry?${new URLSearchParams({ workingDirectory })}`);
  await deck.server.call("POST", "jobs/trust", { path: file, hash });
  const page = await openSession(deck, await deck.server.session({ workingDirectory }));
  await waitFor(async () => (await page.locator("#task-select option").count()) > 1, "the tasks");
  await page.locator("#task-select").selectOption("ask-first");
  await page.locator("#send-button").click();
  await page.locator(".request-block.waiting").waitFor();
  await page.reload();
  await page.locator(".request-block.waiting:not(:has([aria-disabled]))").getByRole("button", { name: "Allow once" }).click();
  await waitForText(page.locator(".task-decision").last(), /succeeded/i);
  await turn(page, "hello");
  // Blocks and decisions in their order, each by what it says.
  const transcript = () => page.locator(".message-block, .turn-end").evaluateAll((all) => all.map(({ className, dataset }) => dataset.decision ?? dataset.type ?? className));
  const before = await transcript();
  assert.equal(before.filter((name) => name === "TASK SUCCEEDED").length, 1);
  assert.deepEqual(before.slice(-3), ["User", "Message", "turn-end"]);
  await page.reload();
  await waitFor(async () => (await transcript()).length >= before.length, "the transcript");
  await page.locator("#task-select option").nth(1).waitFor({ state: "attached" });
  assert.deepEqual(await transcript(), before);
});
