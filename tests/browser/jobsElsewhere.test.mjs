// Jobs on the other pages: the set-up's list, the session's tasks, the inbox.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ENTRY, folderKnown, gate, job, JobsStub, NO_ENTRY, openSession, shown, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const deck = useDeck();

/** The set-up with these answers. */
async function setUp(answers, path = "/") {
  const context = await deck.openContext();
  const stub = await JobsStub.use(context, answers);
  const page = await context.newPage();
  await page.goto(`${deck.server.url}${path}`);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  await folderKnown(page);
  return { page, stub, context };
}

/** A session whose pages get these answers. */
async function session(answers) {
  const context = await deck.openContext();
  const stub = await JobsStub.use(context, answers);
  const id = await deck.server.session();
  const page = await context.newPage();
  return { page, stub, context, id, open: () => page.goto(`${deck.server.url}/?session=${id}`).then(() => shown(page)) };
}

test("New Job leads to the folder's jobs, in the same tab", async () => {
  const { page } = await setUp();
  await page.locator("#working-dir").fill("/repos/a b");
  await page.locator("#jobs-button").click();
  await page.waitForURL((url) => url.pathname === "/jobs.html" && url.searchParams.get("wb") === "/repos/a b");
});

test("without a folder, New Job says what is missing", async () => {
  const { page } = await setUp();
  await page.locator("#working-dir").fill("");
  await page.keyboard.press("Alt+j");
  await waitForText(page.locator("#working-dir-problem"), /absolute path/);
});

test("running jobs are listed, and the list is there when it is empty", async () => {
  const { page, stub } = await setUp({ jobs: [] });
  await waitForText(page.locator("#running-jobs-list"), "No jobs are running.");
  await page.locator("#running-jobs-list").waitFor();
  stub.jobs.set("job-1", job());
  stub.jobs.set("job-2", job({ jobId: "job-2", jobName: "<b>other</b>", status: "Failed" }));
  await page.locator("#refresh-button").click();
  const items = page.locator("#running-jobs-list .running-job-item");
  await waitFor(async () => (await items.count()) === 2, "the jobs");
  assert.deepEqual(await items.locator(".running-job-name").allTextContents(), ["review", "<b>other</b>"]);
  assert.equal(await items.locator(".running-job-status.running-job-status-running").textContent(), "Running");
  assert.equal(await items.locator(".running-job-status.running-job-status-failed").textContent(), "Failed");
  assert.equal(await items.locator(".running-job-time").first().textContent(), "1 min ago");
  assert.equal(await items.locator(".running-job-view-btn").first().getAttribute("href"), "/jobTracking.html?jobName=review&jobId=job-1");
});

test("a job on the stream refreshes the list, counts and stands in the inbox", async () => {
  const context = await deck.openContext();
  const stub = await JobsStub.use(context, { jobs: [] });
  let messages = [];
  await context.route(/\/api\/events$/, (route) => route.fulfill({ contentType: "text/event-stream", body: messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join("") }));
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitForText(page.locator("#running-jobs-list"), "No jobs are running.");
  stub.jobs.set("job-1", job());
  const { waitingId, kind, title, since } = gate();
  messages = [{ jobId: "job-1", jobName: "review", status: "Running", waiting: [{ waitingId, kind, title, since }] }, { jobId: "job-2", jobName: "other", status: "Running", waiting: [] }, { jobId: "job-3", jobName: "gone", status: null }];
  await waitForText(page.locator(".running-job-status"), "Needs your input");
  await waitForText(page.locator("#inbox-count"), "1");
  await waitFor(async () => (await page.title()) === "(1) Flightdeck", "the count in the title");
  await page.locator("#inbox-button").click();
  const entry = page.locator(".inbox-group", { hasText: "Needs your input" }).locator(".inbox-job");
  await waitForText(entry, /review[\s\S]*Gate 2 min ago Commit these changes\?Open job/);
  assert.equal(await entry.getAttribute("href"), "/jobTracking.html?jobName=review&jobId=job-1");
  await waitForText(page.locator(".inbox-group", { hasText: "Jobs" }).locator(".inbox-job"), /other.*Running/s);
  messages = [{ jobId: "job-1", jobName: "review", status: "Succeeded", waiting: [] }];
  await waitFor(async () => (await page.title()) === "Flightdeck", "nothing waits");
});

test("a notification tells what a job needs and how it ended", async () => {
  const context = await deck.openContext({ permissions: ["notifications"] });
  await context.addInitScript(() => {
    // The page that a browser opens with has no storage.
    if (location.protocol.startsWith("http")) localStorage.setItem("flightdeck.notifications", "on");
    window.notified = [];
    window.Notification = class {
      static permission = "granted";
      constructor(title, options) {
        window.notified.push(`${title}: ${options.body}`);
      }
      close() {}
    };
  });
  let answer = null;
  await context.route(/\/api\/events$/, async (route) => {
    const message = (jobs) => jobs.map((one) => `data: ${JSON.stringify({ jobId: "job-1", jobName: "review", ...one })}\n\n`).join("");
    await new Promise((resolve) => {
      answer = resolve;
    });
    await route.fulfill({ contentType: "text/event-stream", body: message([{ status: "Running", waiting: [] }, { status: "Running", waiting: [{ waitingId: "gate-1", kind: "gate", title: "Commit?" }] }, { status: "Failed", waiting: [] }]) }).catch(() => {});
  });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#inbox-button:enabled").waitFor();
  await waitFor(() => answer, "the stream");
  answer();
  await waitFor(() => page.evaluate(() => window.notified.length === 2), "the notifications");
  assert.deepEqual(await page.evaluate(() => window.notified), ["review needs your input: Commit?", "review failed: "]);
});

test("tasks are not asked for while no entry is installed", async () => {
  const { page, stub, open } = await session({ entry: NO_ENTRY });
  await open();
  await waitFor(() => stub.called("GET", "jobs/entry").length === 1, "the question");
  assert.deepEqual(await page.locator("#task-select option").allTextContents(), ["(none)"]);
  assert.equal(stub.called("GET", "copilot/task").length, 0);
});

test("a task is chosen and started with the request as its input", async () => {
  const { page, stub, id, open } = await session({ entry: ENTRY, tasks: [{ name: "plan it", requireUserInput: true }, { name: "check", requireUserInput: false }] });
  await open();
  await waitFor(async () => (await page.locator("#task-select option").count()) === 3, "the tasks");
  assert.deepEqual(await page.locator("#task-select option").allTextContents(), ["(none)", "plan it", "check"]);
  await page.locator("#task-select").selectOption("plan it");
  await page.locator("#send-button").click();
  await waitForText(page.locator("#request-problem"), "This task needs input.");
  stub.live.set("task-1", [{ callback: "taskDecision", reason: "[CRITERIA] It succeeded." }, { callback: "taskSucceeded" }]);
  await page.locator("#request-textarea").fill("the greeting");
  await page.keyboard.press("Control+Enter");
  await waitForText(page.locator(".task-decision"), /TaskDecision.*It succeeded\./s);
  assert.equal(stub.calls.find(({ path }) => path.startsWith("copilot/task/start/")).path, `copilot/task/start/plan%20it/session/${id}`);
  assert.equal(stub.calls.find(({ path }) => path.startsWith("copilot/task/start/")).body, "the greeting");
  assert.equal(await page.locator("#task-select").inputValue(), "");
  assert.equal(await page.locator("#request-textarea").inputValue(), "");
});

test("a task without input needs no text, and a refusal is said beside the request", async () => {
  const { page, stub, id, open } = await session({ entry: ENTRY, tasks: [{ name: "check", requireUserInput: false }] });
  await open();
  await waitFor(async () => (await page.locator("#task-select option").count()) === 2, "the tasks");
  stub.answers.set(`POST copilot/task/start/check/session/${id}`, () => ({ json: { taskError: "The task is gone." } }));
  await page.locator("#task-select").selectOption("check");
  const prompts = watchCalls(page, /\/prompt$/);
  await page.locator("#send-button").click();
  await waitForText(page.locator("#request-problem"), "Could not start the task: The task is gone.");
  assert.deepEqual(prompts.all, [], "nothing else was sent");
});

test("a session that belongs to a job says so in the list and in its header", async () => {
  const id = await deck.server.session({ title: "A review" });
  const belongs = { jobId: "job-7", jobName: "review", taskId: "task-1", taskName: "final-review", workId: 4, isDriving: true };
  const context = await deck.openContext();
  // The page may have gone when an answer is there.
  const answer = async (route, changed) => route.fulfill({ json: changed(await (await route.fetch()).json()) });
  const change = (pattern, changed) => context.route(pattern, (route) => answer(route, changed).catch(() => {}));
  const mine = (one) => (one.sessionId === id ? { ...one, job: belongs } : one);
  await change(/\/api\/copilot\/session(\?|$)/, (reply) => ({ ...reply, sessions: reply.sessions.map(mine) }));
  await change(new RegExp(`/api/copilot/session/${id}$`), mine);
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator('[data-filter="steps"]').click();
  const link = page.locator(`.session-row[data-session="${id}"] .session-job`);
  await waitForText(link, "Job review");
  assert.equal(await link.getAttribute("href"), "/jobTracking.html?jobName=review&jobId=job-7");
  await page.locator(`.session-row[data-session="${id}"] .session-link`).click();
  await waitForText(page.locator(".fact-job"), "Job review");
  await page.keyboard.press("Alt+s");
  await waitForText(page.locator(".details-facts"), /review: final-review \(driving\)/);
});

test("a session of nobody's job says nothing about jobs", async () => {
  const page = await openSession(deck, await deck.server.session());
  assert.equal(await page.locator(".fact-job").count(), 0);
});
