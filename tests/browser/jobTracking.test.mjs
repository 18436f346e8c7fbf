// The page that follows a job.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFINITIONS, gate, job, JobsStub, REVIEW_CHART, useDeck, waitFor, waitForText, workState } from "./support/index.mjs";
import { chartOf, largeWork, task } from "./support/charts.mjs";

const deck = useDeck();

/** Opens the page of a job and waits for its chart. Gives `{ page, stub, context }`. */
async function follow(details, { context: settings, ...answers } = {}) {
  const context = await deck.openContext(settings);
  const stub = await JobsStub.use(context, { jobs: [details], ...answers });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobTracking.html?jobName=review&jobId=job-1`);
  await page.locator("#job-part svg g.node").first().waitFor();
  return { page, stub, context };
}

const node = (page, workId) => page.locator(`g.node[data-work-id="${workId}"]`);
const mark = (page, workId) => page.locator(`.task-status-indicator[data-work-id="${workId}"]`);
const strokes = (page) => page.locator("g.node .node-shape").evaluateAll((shapes) => shapes.map((shape) => shape.style.strokeWidth).filter(Boolean));

test("without a job's name the page goes back to the set-up", async () => {
  const page = await deck.openPage("/jobTracking.html?jobId=job-1");
  await page.waitForURL((url) => url.pathname === "/index.html");
});

test("every part has the portal's id, in the portal's places", async () => {
  const { page } = await follow(job());
  for (const chain of ["#left-part #job-status-bar #job-status-label", "#job-status-bar #stop-job-button", "#left-part #job-part #chart-container svg", "#left-part + #resize-bar + #right-part #session-response-part", ".phone-back-btn"]) assert.equal(await page.locator(chain).count(), 1, chain);
  assert.equal(await page.locator("g.node").count(), REVIEW_CHART.length);
  assert.equal(await page.locator(".task-status-indicator").count(), 8, "one for each work");
  const styles = await page.locator("link[rel=stylesheet]").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  assert.ok(styles.includes("jobTracking.css"));
});

test("nothing but the job and its chart as JSON is in the right part while no node is chosen", async () => {
  const { page } = await follow(job({ waiting: [gate()], works: [workState(0, "Running")] }));
  const read = async () => JSON.parse(await page.locator("#session-response-part").textContent());
  assert.deepEqual(await read(), { job: { requireUserInput: true, work: job().work }, chart: { nodes: REVIEW_CHART } });
  await node(page, 0).click();
  await page.locator(".tab-container").waitFor();
  await node(page, 0).click();
  assert.deepEqual((await read()).chart, { nodes: REVIEW_CHART });
});

test("one node at a time is chosen, and its shape is thicker", async () => {
  const { page } = await follow(job());
  await node(page, 0).click();
  assert.deepEqual(await strokes(page), ["5px"]);
  assert.equal(await node(page, 0).locator(".node-shape").evaluate((shape) => shape.style.strokeWidth), "5px");
  await node(page, 4).click();
  assert.deepEqual(await strokes(page), ["5px"]);
  assert.equal(await node(page, 4).getAttribute("aria-pressed"), "true");
  await page.locator("g.node-ParBegin").click();
  assert.deepEqual(await strokes(page), ["5px"], "a bar cannot be chosen");
  await node(page, 4).click();
  assert.deepEqual(await strokes(page), []);
});

test("a work without a session has its tabs, too", async () => {
  const { page } = await follow(job({ works: [workState(0, "Running")] }));
  await node(page, 0).click();
  assert.deepEqual(await page.locator(".tab-container .tab-header-btn").allTextContents(), ["Driving"]);
  await waitForText(page.locator(".work-empty"), "No session has started yet.");
  await node(page, 7).click();
  assert.deepEqual(await page.locator(".tab-container .tab-header-btn").allTextContents(), ["Driving"]);
  await waitForText(page.locator(".work-empty"), "This step has not started yet.");
});

test("states are shapes and words, and change as the job goes on", async () => {
  const { page, stub } = await follow(job({ works: [workState(0, "Running")] }));
  const words = () => page.locator("g.node[role=button]").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  assert.equal((await words())[0], "plan, running");
  assert.equal((await words())[1], "review (reviewer-1), not started");
  const shape = () => mark(page, 0).locator(".mark-line").getAttribute("d");
  const running = await shape();
  stub.change("job-1", { works: [workState(0, "Succeeded"), workState(1, "Failed"), workState(6, "Waiting"), workState(4, "Running", [{}, {}])] });
  await waitFor(async () => (await words())[0] === "plan, succeeded", "the new state");
  assert.notEqual(await shape(), running);
  assert.equal((await words())[1], "review (reviewer-1), failed");
  assert.ok((await words()).includes("Commit these changes?, gate, needs your input"));
  assert.ok((await words()).includes("final-review, condition, running, run 2"));
  assert.equal(await mark(page, 2).locator("*").count(), 0, "what has not begun has no mark");
});

for (const [status, label, stop, retry] of [["Running", "JOB: RUNNING", true, false], ["Succeeded", "JOB: SUCCEEDED", false, false], ["Failed", "JOB: FAILED", false, true], ["Canceled", "JOB: CANCELED", false, true]]) {
  test(`a job that is ${status} says so`, async () => {
    const endTime = status === "Running" ? undefined : new Date(Date.parse(job().startTime) + 12_300).toISOString();
    const { page } = await follow({ ...job({ status }), endTime });
    assert.equal(await page.locator("#job-status-label").textContent(), label);
    assert.equal(await page.locator("#stop-job-button").isEnabled(), stop);
    assert.equal(await page.locator("#retry-job-button").isVisible(), retry);
    assert.match(await page.locator("#job-time").textContent(), status === "Running" ? /^1 min \d+ s$/ : /^\d+\.\d s$/);
  });
}

test("a job is stopped and retried, and a refusal is said beside the button", async () => {
  deck.expectConsoleErrors(/409/);
  const { page, stub } = await follow(job());
  stub.answers.set("POST jobs/job-1/stop", () => {
    stub.change("job-1", { status: "Canceled", endTime: new Date().toISOString() });
    return { json: { status: "Canceled" } };
  });
  await page.locator("#stop-job-button").click();
  await waitForText(page.locator("#job-status-label"), "JOB: CANCELED");
  stub.answers.set("POST jobs/job-1/retry", () => ({ status: 409, json: { error: "JobNotStopped", message: "The job still runs." } }));
  await page.locator("#retry-job-button").click();
  await waitForText(page.locator("#job-problem"), "Could not retry the job: The job still runs.");
  stub.answers.set("POST jobs/job-1/retry", () => {
    stub.change("job-1", { status: "Running", endTime: undefined });
    return { json: { status: "Running" } };
  });
  await page.locator("#retry-job-button").click();
  await waitForText(page.locator("#job-status-label"), "JOB: RUNNING");
  stub.change("job-1", { status: "Succeeded", endTime: new Date().toISOString() });
  await waitForText(page.locator("#job-status-label"), "JOB: SUCCEEDED");
});

test("sessions are tabs, with their transcripts and the decisions first", async () => {
  const [driving, first, second] = [await deck.server.session(), await deck.server.session(), await deck.server.session()];
  await deck.server.turn(driving, "hello");
  await deck.server.turn(first, "reason");
  // One clock for both: what passes between two looks at it would be part of the time that is shown.
  const now = Date.now();
  const session = (sessionId, isDriving) => ({ sessionId, isDriving, model: "demo", startTime: new Date(now - 9000).toISOString(), endTime: new Date(now).toISOString() });
  const decisions = ["[SESSION STARTED] It began.", "[CRITERIA] Two findings are open:\n- one\n- two"].map((reason) => ({ time: new Date().toISOString(), reason }));
  const { page, stub } = await follow(job({ works: [workState(0, "Running", [{ sessions: [session(driving, true), session(first, false)], decisions }])] }));
  await node(page, 0).click();
  const tabs = page.locator(".tab-header-btn");
  assert.deepEqual(await tabs.allTextContents(), ["Driving", "Attempt #1"]);
  await waitForText(page.locator(".work-facts-line"), /^1 min \d+ s · 12k tokens in · 830 out$/);
  const blocks = page.locator(".tab-panel:not([hidden]) .task-decision");
  assert.deepEqual(await blocks.locator(".message-block-header-text").allTextContents(), ["User (TaskDecision)", "User (TaskDecision)"]);
  assert.match(await blocks.nth(0).textContent(), /session started.*It began\./s);
  assert.ok(await page.getByText("- two").isVisible(), "a decision of several lines is open");
  await page.locator(".tab-panel:not([hidden]) .message-block[data-type=Message]").waitFor();
  await waitForText(page.locator(".tab-panel:not([hidden]) .session-line"), new RegExp(`demo · 9\\.0 s.*Open ${driving}`));
  assert.equal(await page.locator(".session-open").first().getAttribute("href"), `/index.html?session=${driving}`);
  await tabs.nth(0).press("ArrowRight");
  assert.equal(await tabs.nth(1).getAttribute("aria-selected"), "true");
  await page.locator(".tab-panel:not([hidden]) .message-block[data-type=Reasoning]").waitFor();
  // A session that starts gets a tab, and does not take the view.
  stub.change("job-1", { works: [workState(0, "Running", [{ sessions: [session(driving, true), session(first, false), session(second, false)], decisions: [...decisions, { time: new Date().toISOString(), reason: "[TASK FAILED] No." }] }])] });
  await waitFor(async () => (await tabs.count()) === 3, "the new tab");
  assert.equal(await tabs.nth(1).getAttribute("aria-selected"), "true");
  await tabs.nth(0).click();
  assert.equal(await blocks.count(), 3);
});

test("a transcript goes on while it is shown, and its requests are answered there", async () => {
  const id = await deck.server.session();
  const { page } = await follow(job({ works: [workState(0, "Running", [{ sessions: [{ sessionId: id, isDriving: true, model: "demo", startTime: new Date().toISOString() }] }])] }));
  await node(page, 0).click();
  await page.locator(".session-line .state").waitFor();
  await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  await page.locator(".request-block.waiting:not(:has([aria-disabled]))").waitFor();
  await page.keyboard.press("Alt+a");
  await page.keyboard.press("1");
  await waitForText(page.locator(".request-verdict"), "Allowed once");
  await page.locator(".turn-end").waitFor();
});

test("the runs of a work in a loop can be chosen", async () => {
  const runs = [{ decisions: [{ time: new Date().toISOString(), reason: "[CRITERIA] first run" }] }, { decisions: [{ time: new Date().toISOString(), reason: "[CRITERIA] second run" }] }];
  const { page, stub } = await follow(job({ works: [workState(4, "Running", runs)] }));
  await node(page, 4).click();
  await waitForText(page.locator(".decisions"), /second run/);
  assert.deepEqual(await page.locator(".work-runs option").allTextContents(), ["Run 1 of 2 · Failed", "Run 2 of 2 · Running"]);
  await page.locator(".work-runs").selectOption("0");
  await waitForText(page.locator(".decisions"), /first run/);
  // What was chosen stays, although another run begins.
  stub.change("job-1", { works: [workState(4, "Running", [...runs, {}])] });
  await waitFor(async () => (await page.locator(".work-runs option").count()) === 3, "the third run");
  await waitForText(page.locator(".decisions"), /first run/);
});

test("several driving sessions can be chosen, the last is shown", async () => {
  const ids = [await deck.server.session(), await deck.server.session()];
  const sessions = ids.map((sessionId) => ({ sessionId, isDriving: true, model: "demo", startTime: new Date().toISOString() }));
  const { page } = await follow(job({ works: [workState(0, "Running", [{ sessions }])] }));
  await node(page, 0).click();
  await waitForText(page.locator(".session-open"), `Open ${ids[1]}`);
  await page.locator(".session-picker").selectOption(ids[0]);
  await waitForText(page.locator(".session-open"), `Open ${ids[0]}`);
  assert.deepEqual(await page.locator(".tab-header-btn").allTextContents(), ["Driving"]);
});

test("the chart is scaled by wheel, buttons and keys, within limits", async () => {
  const { page } = await follow(job(), { context: { viewport: { width: 1700, height: 800 } } });
  const scale = () => page.locator("#chart-container svg").evaluate((svg) => Number(svg.dataset.scale));
  const width = () => page.locator("#chart-container svg").evaluate((svg) => svg.getBoundingClientRect().width);
  assert.equal(await scale(), 1);
  const before = await width();
  await page.locator("#chart-container").hover();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await waitFor(async () => (await scale()) === 1.1, "a larger chart");
  assert.ok((await width()) > before);
  await page.mouse.wheel(0, -100);
  assert.equal(await scale(), 1.1, "without Ctrl the wheel scrolls");
  await page.keyboard.press("-");
  assert.equal(await scale(), 1);
  for (let step = 0; step < 30; step += 1) await page.keyboard.press("+");
  assert.equal(await scale(), 3);
  assert.equal(await page.locator("#zoom-reset-button").textContent(), "300 %");
  for (let step = 0; step < 40; step += 1) await page.keyboard.press("-");
  assert.equal(await scale(), 0.2);
  await page.keyboard.press("0");
  assert.equal(await scale(), 1);
  await page.locator("#zoom-in-button").click();
  assert.equal(await scale(), 1.1);
});

test("the chart is used with keys alone", async () => {
  const { page } = await follow(job());
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.equal(await page.locator('g.node[tabindex="0"]').count(), 1, "one stop for Tab");
  await page.locator('g.node[tabindex="0"]').focus();
  assert.equal(await focused(), "plan, not started");
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(), "review (reviewer-2), not started");
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(), "review (reviewer-3), not started");
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(), "final-review, condition, not started");
  await page.keyboard.press("Enter");
  await page.locator(".tab-container").waitFor();
  assert.deepEqual(await strokes(page), ["5px"]);
  await page.keyboard.press("Escape");
  assert.deepEqual(await strokes(page), []);
  await page.keyboard.press("End");
  assert.equal(await focused(), "commit, not started");
  await page.keyboard.press("Home");
  assert.equal(await focused(), "plan, not started");
});

test("the page says that the connection is lost, and catches up when it is back", async () => {
  deck.expectConsoleErrors(/ERR_|503/);
  const { page, stub } = await follow(job({ works: [workState(0, "Running")] }));
  let isDown = true;
  await page.context().route(/\/api\/jobs\/job-1/, (route) => (isDown ? route.abort() : route.fallback()));
  stub.change("job-1", { works: [workState(0, "Succeeded")] });
  await waitForText(page.locator('[data-banner="connection"]'), /The server did not respond\..*Retrying/);
  isDown = false;
  await page.evaluate(() => document.querySelector('[data-banner="connection"] button')?.click());
  await page.locator('[data-banner="connection"]').waitFor({ state: "detached" });
  assert.equal(await node(page, 0).getAttribute("aria-label"), "plan, succeeded");
});

test("a hidden tab holds no stream, and catches up when it is seen again", async () => {
  const { page, stub } = await follow(job({ works: [workState(0, "Running")] }));
  await waitFor(() => stub.called("GET", "jobs/job-1/events").length === 1, "the stream");
  const setHidden = (hidden) =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/events"));
  await setHidden(true);
  await ended;
  stub.change("job-1", { works: [workState(0, "Succeeded")] });
  await setHidden(false);
  await waitFor(async () => (await node(page, 0).getAttribute("aria-label")) === "plan, succeeded", "the new state");
});

test("a reload shows the same again", async () => {
  const { page } = await follow(job({ status: "Failed", error: "The agent is gone: <b>boom</b>", endTime: new Date().toISOString(), works: [workState(0, "Failed")] }));
  await waitForText(page.locator('[data-banner="job-error"]'), /The job failed\. The agent is gone: <b>boom<\/b>/);
  await page.reload();
  await waitForText(page.locator("#job-status-label"), "JOB: FAILED");
  assert.equal(await node(page, 0).getAttribute("aria-label"), "plan, failed");
});

test("a job that is not there is a sentence with a way back", async () => {
  deck.expectConsoleErrors(/404/);
  const context = await deck.openContext();
  await JobsStub.use(context);
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobTracking.html?jobName=review&jobId=job-9`);
  await waitForText(page.locator("#finished-ui"), /job-9 not found/);
  assert.equal(await page.locator("#finished-ui a").getAttribute("href"), "/index.html");
});

test("200 nodes are all there, and 10,000 do not stop the page", async () => {
  const chart = chartOf(largeWork(150));
  const { page } = await follow(job({ chart, works: [workState(0, "Running")] }));
  assert.equal(await page.locator("g.node").count(), chart.length);
  const many = chartOf({ seq: Array.from({ length: 10_000 }, (_, index) => task(`step ${index}`)) });
  const { page: large } = await follow(job({ chart: many, works: [workState(0, "Running"), workState(9999, "Failed")] }));
  await waitForText(large.locator("#chart-note"), "10,000 nodes. Only those near the visible area are drawn.");
  assert.ok((await large.locator("g.node").count()) < 200);
  await large.locator('g.node[tabindex="0"]').focus();
  await large.keyboard.press("End");
  await waitFor(() => large.evaluate(() => document.activeElement.getAttribute("aria-label") === "step 9999, failed"), "the last node");
  await large.keyboard.press("Enter");
  await large.locator(".tab-container").waitFor();
});

test("on a phone the chart and the details are one column each", async () => {
  const { page } = await follow(job({ works: [workState(0, "Running")], waiting: [gate()] }), { context: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } });
  const fits = async (what) => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360, what);
  assert.ok(await page.locator("#right-part").isHidden());
  await fits("chart");
  await node(page, 0).click();
  await page.locator(".tab-container").waitFor();
  assert.ok(await page.locator("#left-part").isHidden());
  await fits("details");
  await page.locator(".phone-back-btn").click();
  assert.ok(await page.locator("#job-part").isVisible());
  assert.deepEqual(await strokes(page), []);
  await page.locator("#job-waiting-button").click();
  await fits("a gate");
  for (const button of await page.locator(".request-choice").all()) assert.ok((await button.boundingBox()).height >= 36);
});

test("a preview shows what each step would do, and starts nothing", async () => {
  const works = [
    { workId: 0, taskName: "plan", model: "gpt-5.2", runtime: "copilot", mode: "separate", prompt: "Plan this:\nFix it", criteria: { toolExecuted: ["job_prepare_document"], condition: "Is it there?", command: { run: ["test", "-f", "a b.md"], expectExit: 1 }, retryTimes: 2 }, permissions: { mode: "folder", rules: [{ tool: "shell", decision: "allow", prefix: "git" }] }, timeout: "30m" },
    { workId: 6, gate: "Commit these changes?", prompt: "Look first." },
  ];
  const context = await deck.openContext();
  const stub = await JobsStub.use(context, { preview: { works, warnings: ["odd"] } });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobTracking.html?jobName=review&wb=/repos/greeter`);
  await page.locator("g.node").first().waitFor();
  assert.equal(await page.locator("#job-status-label").textContent(), "JOB: PREVIEW");
  assert.equal(await page.locator("#stop-job-button").count(), 0);
  assert.deepEqual(JSON.parse(await page.locator("#session-response-part").textContent()), { job: DEFINITIONS.jobs.review, chart: { nodes: REVIEW_CHART } });
  await waitForText(page.locator('[data-banner="warnings"]'), /odd/);
  await node(page, 0).click();
  for (const text of ["copilot/gpt-5.2", "a new session for each prompt", "allow shell that begins with git", "job_prepare_document", 'test -f "a b.md"', "exit code 1", "2 retries", "30m", "Plan this:\nFix it", "Is it there?"]) assert.ok((await page.locator(".work-preview").textContent()).includes(text), text);
  await node(page, 6).click();
  await waitForText(page.locator(".work-preview"), /Commit these changes\?[\s\S]*Look first\./);
  assert.deepEqual(stub.called("POST", "jobs").map(({ body }) => body), [{ jobName: "review", workingDirectory: "/repos/greeter", userInput: "$user-input", dryRun: true }]);
});

test("a preview of a job that is not there says which there are", async () => {
  const context = await deck.openContext();
  await JobsStub.use(context);
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobTracking.html?jobName=nothing&wb=/x`);
  await waitForText(page.locator("#job-problem"), /no job with this name.*ask-job, code-job, review/);
});
