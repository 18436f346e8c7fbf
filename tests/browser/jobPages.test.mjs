// The pages of jobs on a real server: the table of jobs, sizes and scale, a phone, a very large job, a wrong configuration.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSetup, Server, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { ENTRY, gateCard, makeFolder, node, nodeSays, openJob, startJob } from "./support/realJobs.mjs";

const STEPS = 10_000;
const gate = { kind: "Gate", title: "Begin?", prompt: ["A list:\n\n- **one**\n- `two`<script>window.pwned = 1</script>"] };
const large = { work: { kind: "Seq", works: [gate, ...Array.from({ length: STEPS - 1 }, () => ({ kind: "Ref", taskId: "greet" }))] } };
const asking = { work: { kind: "Seq", works: [gate, { kind: "Ref", taskId: "greet" }] } };

const deck = useDeck({ jobs: { ...ENTRY, jobs: { ...ENTRY.jobs, large, asking } } });

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const status = (page, text) => waitForText(page.locator("#job-status-label"), `JOB: ${text}`);
const widthOf = (page) => page.locator("#right-part").evaluate((part) => Math.round(part.getBoundingClientRect().width));

async function openJobs(server, folder, page) {
  await page.goto(`${server.url}/jobs.html?wb=${encodeURIComponent(folder)}`);
  await page.locator(".entry-line").waitFor();
  return page;
}

/** A job that waits at its first step, on a page. */
async function waitingJob(jobName, context) {
  const jobId = await startJob(deck.server, jobName, { workingDirectory: await makeFolder(deck.server) });
  return openJob(deck, jobName, jobId, context);
}

/** Another server, for what cannot be done to the one that all tests share. `work` gets it, and a page. */
async function onOtherServer(settings, work) {
  deck.expectConsoleErrors(/asked another host/);
  const server = await Server.start({ auth: "none", ...settings });
  try {
    await work(server, await (await deck.openStrangersContext()).newPage());
  } finally {
    await server.remove();
  }
}

/** Moves the bar between the two parts by mouse, then by key, and looks for the width after a reload. */
async function resize(page, isThere) {
  const before = await widthOf(page);
  const { x, y } = await page.locator("#resize-bar").boundingBox();
  await page.mouse.move(x + 3, y + 100);
  await page.mouse.down();
  await page.mouse.move(x + 103, y + 100);
  await page.mouse.up();
  assert.equal(await widthOf(page), before - 100);
  await page.locator("#resize-bar").press("ArrowLeft");
  const after = await widthOf(page);
  assert.ok(after > before - 100, `${after}`);
  await page.reload();
  await page.locator(isThere).first().waitFor();
  assert.equal(await widthOf(page), after);
}

test("New Job leads to the folder's jobs in the same tab, with empty cells where the entry has none", async () => {
  const page = await openSetup(deck);
  const folder = await makeFolder(deck.server);
  await page.locator("#working-dir").fill(folder);
  await page.locator("#jobs-button").click();
  await page.waitForURL((url) => url.pathname === "/jobs.html" && url.searchParams.get("wb") === folder);
  assert.equal(page.context().pages().length, 1);
  await page.locator(".matrix-job-btn").first().waitFor();
  const rows = await page.locator("#matrix-rows tr").evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
  assert.deepEqual(rows, [["Feature", "", "Plan"], ["Permission", "Gate", ""]]);
});

test("the bar between the parts of both pages is moved, and stays where it was put", async () => {
  const context = await deck.openContext({ viewport: { width: 1600, height: 800 } });
  const page = await openJobs(deck.server, await makeFolder(deck.server), await context.newPage());
  await page.locator(".matrix-job-btn").first().waitFor();
  await resize(page, ".matrix-job-btn");
  await resize(await waitingJob("asking", context), "g.node");
});

test("the sidebar leaves the pages of jobs their room, and what is chosen there holds there", async () => {
  const context = await deck.openContext({ viewport: { width: 1280, height: 800 } });
  const home = await context.newPage();
  await home.goto(`${deck.server.url}/`);
  await home.locator("#sidebar-button:enabled").click();
  await home.locator("#sidebar").waitFor();
  const page = await openJobs(deck.server, await makeFolder(deck.server), await context.newPage());
  await page.locator(".matrix-job-btn").first().waitFor();
  await page.locator("#sidebar-button:enabled").waitFor();
  assert.ok(await page.locator("#sidebar").isHidden(), "it was opened on other pages");
  await page.locator("#sidebar-button").click();
  await page.locator("#sidebar").waitFor();
  const heights = await page.locator(".matrix-job-btn").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  assert.ok(heights.every((height) => height < 40), `no name is broken: ${heights}`);
  assert.ok(await page.locator("#matrix-part").evaluate((part) => part.scrollWidth <= part.clientWidth), "nothing to scroll");
  await page.reload();
  await page.locator("#sidebar").waitFor();
  const job = await waitingJob("asking", context);
  await job.locator("#sidebar").waitFor();
  const bar = await job.locator("#job-status-bar").boundingBox();
  assert.ok(bar.height < 50, `the status is one line: ${bar.height}`);
  await job.locator("#sidebar-button:enabled").click();
  await job.locator("#sidebar").waitFor({ state: "hidden" });
  await home.reload();
  await home.locator("#sidebar").waitFor();
});

test("the chart of a job is scaled with Ctrl and the wheel", async () => {
  const page = await waitingJob("asking", { viewport: { width: 1600, height: 800 } });
  const scale = () => page.locator("#chart-container svg").evaluate((svg) => Number(svg.dataset.scale));
  const width = () => node(page, 1).evaluate((one) => one.getBoundingClientRect().width);
  const before = await width();
  const [chart, buttons] = [await page.locator("#chart-container").boundingBox(), await page.locator("#zoom-buttons").boundingBox()];
  assert.ok(buttons.y >= chart.y + chart.height, "the buttons cover nothing");
  await page.locator("#chart-container").hover();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await waitFor(async () => (await scale()) === 1.1, "a larger chart");
  assert.ok((await width()) > before);
  for (let step = 0; step < 30; step += 1) await page.mouse.wheel(0, 100);
  await page.keyboard.up("Control");
  await waitFor(async () => (await scale()) === 0.2, "the smallest chart");
});

test("on a phone, a step's details lead back to the chart", async () => {
  const page = await waitingJob("asking", PHONE);
  const fits = async (what) => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= PHONE.viewport.width, what);
  await fits("the chart");
  await page.locator("#job-waiting-button").click();
  await gateCard(page).waitFor();
  await fits("the gate");
  await page.locator(".phone-back-btn").click();
  await node(page, 1).click();
  await page.locator(".tab-container").waitFor();
  assert.ok(await page.locator("#left-part").isHidden());
  await fits("the details");
  const [bar, head] = [await page.locator(".phone-bar").boundingBox(), await page.locator(".work-head").boundingBox()];
  assert.ok(head.y >= bar.y + bar.height && head.y < bar.y + bar.height + 20, `the chosen step is in view, not only the gate above it: ${JSON.stringify([bar, head])}`);
  await page.locator(".phone-back-btn").click();
  assert.ok(await page.locator("#job-part").isVisible());
  assert.ok(await page.locator("#right-part").isHidden());
});

test("the prompt of a gate is Markdown in the preview, while it waits and afterwards, and never a script", async () => {
  const folder = await makeFolder(deck.server);
  const preview = await deck.openPage(`/jobTracking.html?${new URLSearchParams({ jobName: "asking", wb: folder })}`);
  await node(preview, 0).click();
  await waitForText(preview.locator(".work-preview .gate-rendered li strong"), "one");
  const page = await waitingJob("asking");
  await waitForText(gateCard(page).locator(".request-rendered li strong"), "one");
  await node(page, 0).click();
  await waitForText(page.locator(".gate-panel .gate-rendered li strong"), "one");
  await gateCard(page).getByRole("button", { name: "Approve" }).click();
  await waitForText(page.locator(".gate-panel .gate-answer"), /Approved in the browser/);
  await waitForText(page.locator(".gate-panel .gate-rendered li code"), "two");
  for (const one of [preview, page]) assert.equal(await one.evaluate(() => window.pwned), undefined);
  await status(page, "SUCCEEDED");
});

test("a job of 10,000 steps is drawn where it is looked at, answered and stopped", async () => {
  const page = await waitingJob("large");
  await waitForText(page.locator("#chart-note"), "10,000 nodes. Only those near the visible area are drawn.");
  assert.ok((await page.locator("g.node").count()) < 200);
  await nodeSays(page, 0, "Begin?, gate, needs your input");
  await page.locator('g.node[tabindex="0"]').focus();
  await page.keyboard.press("End");
  await nodeSays(page, STEPS - 1, "greet, not started");
  await page.keyboard.press("Enter");
  await waitForText(page.locator(".tab-container .work-empty"), "This step has not started yet.");
  await gateCard(page).getByRole("button", { name: "Approve" }).click();
  await page.locator('g.node[tabindex="0"]').focus();
  await page.keyboard.press("Home");
  await nodeSays(page, 1, "greet, succeeded");
  await page.locator("#stop-job-button").click();
  await status(page, "CANCELED");
});

test("an invalid configured entry says what is wrong with it, and there are no jobs", async () => {
  await onOtherServer({ jobs: { ...ENTRY, drivingSessionRetries: [] } }, async (server, page) => {
    await openJobs(server, server.workFolder, page);
    await waitForText(page.locator(".entry-line"), /^No jobs: the configured entry is invalid · .*jobs\.json/);
    await waitForText(page.locator(".entry-problem"), /^Error entry\.drivingSessionRetries/);
    assert.equal(await page.locator(".matrix-job-btn").count(), 0);
    assert.ok(await page.locator("#start-job-button").isDisabled());
  });
});

test("Stop Server on the page of jobs asks while a job runs, and then stops the server", async () => {
  await onOtherServer({ jobs: ENTRY }, async (server, page) => {
    await startJob(server, "careful", { workingDirectory: await makeFolder(server) });
    await openJobs(server, server.workFolder, page);
    await waitFor(async () => (await server.call("GET", "copilot/session")).sessions.some(({ state }) => state === "working"), "the agent at work");
    // The page asks about what it knows of, which the inbox shows.
    await page.locator("#inbox-button:enabled").click();
    await page.locator(".inbox-job", { hasText: "careful" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#stop-server-button").click();
    await waitForText(page.locator("dialog p"), /careful/);
    await page.keyboard.press("Enter");
    await page.locator("dialog").waitFor({ state: "detached" });
    assert.equal((await server.api("GET", "test")).status, 200, "Enter keeps it running");
    await page.locator("#stop-server-button").click();
    await page.getByRole("button", { name: "Stop the server" }).click();
    await waitForText(page.locator("#finished-ui"), /can close this page/);
    assert.equal(await server.ended(), 0);
  });
});
