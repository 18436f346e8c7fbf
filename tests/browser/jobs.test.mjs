// The page on which a job is chosen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccessibility, DEFINITIONS, ENTRY, JobsStub, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();
const FOLDER = "/repos/greeter";

const OWN = {
  source: "folder",
  path: "/repos/greeter/.flightdeck/jobs.json",
  hash: "9f2c4e0b7d1a".padEnd(64, "3"),
  trusted: false,
  inForce: false,
  problems: [],
  fallback: ENTRY,
  entry: {
    tasks: {
      plan: { prompt: ["plan"], requireUserInput: false },
      check: { prompt: ["check"], requireUserInput: false, criteria: { command: { run: ["cargo", "test", "a b"] } }, permissions: { mode: "folder", rules: [{ tool: "shell", decision: "allow", prefix: "cargo" }] } },
      commit: { prompt: ["commit"], requireUserInput: false, permissions: { mode: "allow-all" } },
    },
  },
};

/** Opens the page and waits for its jobs. Gives `{ page, stub, context }`. */
async function open({ context: settings, ...answers } = {}) {
  const context = await deck.openContext(settings);
  const stub = await JobsStub.use(context, answers);
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobs.html?wb=${encodeURIComponent(FOLDER)}`);
  await page.locator(".matrix-job-btn").first().waitFor();
  return { page, stub, context };
}

const choose = (page, name) => page.locator(`.matrix-job-btn[data-job-name="${name}"]`).click();

test("without a folder the page goes back to the set-up", async () => {
  const page = await deck.openPage("/jobs.html");
  await page.waitForURL((url) => url.pathname === "/index.html");
});

test("every part has the portal's id, in the portal's places", async () => {
  const { page, stub } = await open();
  for (const chain of ["#left-part #matrix-part #matrix-table .matrix-title", "#matrix-table #stop-server-button", "#right-part #user-input-part #user-input-textarea", "#right-part #start-job-button", "#right-part #preview-button", "#left-part + #resize-bar + #right-part"]) {
    assert.equal(await page.locator(chain).count(), 1, chain);
  }
  assert.equal(await page.locator(".matrix-title").textContent(), "Available Jobs");
  assert.equal(await page.locator("#stop-server-button").textContent(), "Stop Server");
  assert.deepEqual(await page.locator(".matrix-keyword").allTextContents(), ["ask", "review"]);
  assert.deepEqual(await page.locator(".matrix-job-btn").evaluateAll((all) => all.map((button) => [button.textContent, button.dataset.jobName])), [["ask", "ask-job"], ["code", "code-job"], ["review all", "review"]]);
  const styles = await page.locator("link[rel=stylesheet]").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  assert.ok(styles.includes("jobs.css"));
  assert.deepEqual(stub.called("GET", "copilot/job")[0].query, { workingDirectory: FOLDER });
});

test("empty cells stay empty, and every row has as many", async () => {
  const { page } = await open();
  const rows = await page.locator("#matrix-rows tr").evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
  assert.deepEqual(rows, [["ask", "", "code"], ["", "review all", ""]]);
});

test("one job at a time is chosen, the same press again gives it up", async () => {
  const { page } = await open();
  const state = () => page.evaluate(() => ({ selected: [...document.querySelectorAll(".selected")].map((button) => button.dataset.jobName), start: document.querySelector("#start-job-button").textContent, disabled: ["#start-job-button", "#preview-button", "#user-input-textarea"].map((id) => document.querySelector(id).disabled) }));
  assert.deepEqual(await state(), { selected: [], start: "Job Not Selected", disabled: [true, true, true] });
  await choose(page, "ask-job");
  assert.deepEqual(await state(), { selected: ["ask-job"], start: "Start Job: ask-job", disabled: [false, false, true] });
  await choose(page, "review");
  assert.deepEqual(await state(), { selected: ["review"], start: "Start Job: review", disabled: [false, false, false] });
  await choose(page, "review");
  assert.deepEqual(await state(), { selected: [], start: "Job Not Selected", disabled: [true, true, true] });
});

test("a job is started with its input, and followed in a new tab", async () => {
  const { page, stub, context } = await open();
  await choose(page, "review");
  await page.locator("#start-job-button").click();
  await waitForText(page.locator("#job-problem"), "This job needs input.");
  await page.locator("#user-input-textarea").fill("Fix it\nwell");
  const [tab] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("Control+Enter")]);
  await tab.waitForURL(/jobTracking/, { waitUntil: "commit" });
  const { pathname, searchParams } = new URL(tab.url());
  assert.deepEqual([pathname, searchParams.get("jobName"), searchParams.get("jobId")], ["/jobTracking.html", "review", "job-1"]);
  deck.expectConsoleErrors(/404/);
  assert.deepEqual(stub.called("POST", "jobs")[0].body, { jobName: "review", workingDirectory: FOLDER, userInput: "Fix it\nwell" });
  assert.equal(await page.locator("#job-started a").getAttribute("href"), "/jobTracking.html?jobName=review&jobId=job-1", "a browser may refuse to open a tab");
  await choose(page, "ask-job");
  await Promise.all([context.waitForEvent("page"), page.locator("#start-job-button").click()]);
  assert.deepEqual(stub.called("POST", "jobs")[1].body, { jobName: "ask-job", workingDirectory: FOLDER });
});

test("what goes wrong is said beside the button, and the input stays", async () => {
  deck.expectConsoleErrors(/400/);
  const { page, stub } = await open();
  stub.answers.set("POST jobs", () => ({ status: 400, json: { error: "WorkingDirectoryNotExists", message: "The folder does not exist." } }));
  await choose(page, "review");
  await page.locator("#user-input-textarea").fill("Fix it");
  await page.locator("#start-job-button").click();
  await waitForText(page.locator("#job-problem"), "Could not start the job: The folder does not exist.");
  assert.equal(await page.locator("#user-input-textarea").inputValue(), "Fix it");
  await page.reload();
  await choose(page, "review");
  assert.equal(await page.locator("#user-input-textarea").inputValue(), "Fix it", "also over a reload");
});

test("an input too long for the storage outlasts the choice of another job, and the page says what a reload does", async () => {
  const { page } = await open();
  await choose(page, "review");
  const textarea = page.locator("#user-input-textarea");
  await textarea.evaluate((element) => {
    element.value = "x".repeat(300_000);
    element.dispatchEvent(new Event("input"));
  });
  await waitForText(page.locator("#user-input-draft-note"), /^This draft is too long to survive a reload\./);
  await choose(page, "ask-job");
  assert.ok(await page.locator("#user-input-draft-note").isHidden());
  await choose(page, "review");
  assert.equal(await textarea.evaluate(({ value }) => value.length), 300_000);
  await waitForText(page.locator("#user-input-draft-note"), /^This draft is too long/);
});

test("the preview opens without a job", async () => {
  const { page, stub, context } = await open();
  await choose(page, "ask-job");
  const [tab] = await Promise.all([context.waitForEvent("page"), page.locator("#preview-button").click()]);
  await tab.waitForURL(/jobTracking/, { waitUntil: "commit" });
  const { pathname, searchParams } = new URL(tab.url());
  assert.deepEqual([pathname, Object.fromEntries(searchParams)], ["/jobTracking.html", { jobName: "ask-job", wb: FOLDER }]);
  assert.equal(stub.called("POST", "jobs").filter(({ body }) => !body.dryRun).length, 0, "nothing starts");
});

test("the bar changes the width, by mouse and by keys", async () => {
  const { page } = await open({ context: { viewport: { width: 1600, height: 800 } } });
  const width = () => page.locator("#right-part").evaluate((part) => Math.round(part.getBoundingClientRect().width));
  assert.equal(await width(), 800);
  const { x, y } = await page.locator("#resize-bar").boundingBox();
  await page.mouse.move(x + 3, y + 100);
  await page.mouse.down();
  await page.mouse.move(x + 203, y + 100);
  await page.mouse.up();
  assert.equal(await width(), 600);
  await page.locator("#resize-bar").press("ArrowLeft");
  assert.equal(await width(), 624);
  await page.reload();
  await page.locator(".matrix-job-btn").first().waitFor();
  assert.equal(await width(), 624);
});

test("one line says which entry is in force", async () => {
  const { page } = await open({ entry: { ...ENTRY, source: "configuration", path: "/etc/jobs.json", hash: "ab".repeat(32) } });
  await waitForText(page.locator(".entry-line"), "Jobs from the configured entry · /etc/jobs.json · abababababab");
  assert.equal(await page.locator(".entry-own").count(), 0);
});

test("a folder's own entry shows what it may do before it is trusted", async () => {
  const { page, stub } = await open({ entry: OWN });
  const own = page.locator(".entry-own");
  for (const text of ["not trusted yet", OWN.path, OWN.hash.slice(0, 12), 'cargo test "a b"', "allow shell that begins with cargo", "everything, without asking", "built-in entry is in effect"]) await waitForText(own, new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  assert.equal(await own.locator("code[title]").getAttribute("title"), OWN.hash);
  await waitForText(page.locator(".entry-line"), "Jobs from the built-in entry");
  stub.answers.set("POST jobs/trust", () => {
    stub.entry = { ...OWN, trusted: true, inForce: true, fallback: undefined };
    stub.definitions = { ...DEFINITIONS, grid: [{ keyword: "own", jobs: [{ name: "own", jobName: "review" }] }] };
    return { json: {} };
  });
  await page.locator("#trust-button").click();
  await waitForText(page.locator(".entry-line"), /Jobs from this folder's entry/);
  assert.equal(await own.count(), 0);
  assert.deepEqual(stub.called("POST", "jobs/trust")[0].body, { path: OWN.path, hash: OWN.hash });
  await waitFor(async () => (await page.locator(".matrix-keyword").allTextContents()).join() === "own", "its own jobs");
});

test("an entry that has changed meanwhile is shown again instead of trusted", async () => {
  deck.expectConsoleErrors(/409/);
  const { page, stub } = await open({ entry: OWN });
  stub.answers.set("POST jobs/trust", () => {
    stub.entry = { ...OWN, hash: "c".repeat(64), entry: { tasks: { plan: { prompt: ["x"], criteria: { command: { run: ["rm", "-rf", "/"] } } } } } };
    return { status: 409, json: { error: "EntryChanged", message: "The file has changed." } };
  });
  await page.locator("#trust-button").click();
  await waitForText(page.locator(".entry-own"), /has changed since you looked[\s\S]*cccccccccccc[\s\S]*rm -rf \//);
});

test("an invalid entry lists its problems with their paths, and cannot be trusted", async () => {
  const problems = [{ path: "entry.models.driving", message: "Should exist.", severity: "error" }, { path: 'entry.tasks["a"].model', message: "unknown", severity: "warning" }];
  const { page } = await open({ entry: { ...OWN, entry: undefined, problems } });
  await waitForText(page.locator(".entry-own h2"), /invalid/);
  assert.deepEqual(await page.locator(".entry-problem").allTextContents(), ["Error entry.models.driving Should exist.", 'Warning entry.tasks["a"].model unknown']);
  assert.equal(await page.locator("#trust-button").count(), 0);
  await waitForText(page.locator(".entry-line"), "Jobs from the built-in entry");
});

test("an invalid configured entry says why there are no jobs, and asks for none", async () => {
  const context = await deck.openContext();
  const entry = { ...ENTRY, source: "configuration", path: "/etc/jobs.json", problems: [{ path: "entry.models.driving", message: "Should exist.", severity: "error" }] };
  const stub = await JobsStub.use(context, { entry });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobs.html?wb=/x`);
  await waitForText(page.locator(".entry-line"), /^No jobs: the configured entry is invalid · \/etc\/jobs\.json/);
  await waitForText(page.locator(".entry-problem"), "Error entry.models.driving Should exist.");
  assert.equal(stub.called("GET", "copilot/job").length, 0);
});

test("without any entry there is a sentence, and no request for jobs", async () => {
  const page = await deck.openPage("/jobs.html?wb=/x");
  await waitForText(page.locator(".entry-line"), "No entry is in effect, so there are no jobs.");
  assert.equal(await page.locator(".matrix-job-btn").count(), 0);
});

test("jobs that cannot be loaded are a sentence, not an empty page", async () => {
  const context = await deck.openContext();
  await JobsStub.use(context, { definitions: { error: "NoEntry" } });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobs.html?wb=/x`);
  await waitForText(page.locator("#matrix-problem"), "Could not load the jobs: NoEntry");
});

test("with others at work, Stop Server asks first", async () => {
  const id = await deck.server.session({ title: "Somebody's" });
  await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  const { page } = await open();
  let stopped = 0;
  await page.route(/\/api\/stop$/, (route) => {
    stopped += 1;
    return route.fulfill({ json: {} });
  });
  await page.locator("#inbox-count", { hasText: "1" }).waitFor();
  await page.locator("#stop-server-button").click();
  await waitForText(page.locator("dialog p"), /Somebody's/);
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal(stopped, 0);
  await page.locator("#stop-server-button").click();
  await page.getByRole("button", { name: "Stop the server" }).click();
  await waitForText(page.locator("#finished-ui"), /can close this page/);
  assert.equal(stopped, 1);
  await deck.server.api("DELETE", `copilot/session/${id}`);
});

const EVIL = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202E`;

test("markup in every field is text", async () => {
  const definitions = { grid: [{ keyword: EVIL, jobs: [{ name: EVIL, jobName: EVIL }] }], jobs: { [EVIL]: { requireUserInput: true } }, chart: {} };
  const entry = { ...OWN, path: EVIL, hash: EVIL, problems: [{ path: EVIL, message: EVIL, severity: "warning" }], entry: { tasks: { [EVIL]: { prompt: [EVIL], criteria: { command: { run: [EVIL] } }, permissions: { mode: EVIL, rules: [{ tool: EVIL, decision: "allow", prefix: EVIL }] }, mcpServers: { [EVIL]: { command: EVIL } } } } }, fallback: { ...ENTRY, source: EVIL, path: EVIL } };
  const { page } = await open({ definitions, entry });
  await page.locator(".matrix-job-btn").click();
  await page.locator(".entry-own").waitFor();
  assert.deepEqual(await page.evaluate(() => [window.pwned, document.querySelectorAll("img, body script").length]), [undefined, 0]);
  assert.match(await page.locator(".matrix-job-btn").textContent(), /<img src=x.*U\+202E/s);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious: jobs, ${colorScheme}`, async () => {
    const { page } = await open({ entry: { ...OWN, problems: [{ path: "entry", message: "odd", severity: "warning" }] }, context: { colorScheme } });
    await checkAccessibility(page, "an entry to trust");
    await choose(page, "review");
    await page.locator("#start-job-button").click();
    await page.locator("#job-problem").waitFor();
    await checkAccessibility(page, "a chosen job with a problem");
  });
}

test("a phone shows everything in one column", async () => {
  const { page } = await open({ entry: OWN, context: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } });
  await choose(page, "review");
  const { width, bar } = await page.evaluate(() => ({ width: document.documentElement.scrollWidth, bar: getComputedStyle(document.querySelector("#resize-bar")).display }));
  assert.ok(width <= 360, `${width}`);
  assert.equal(bar, "none");
  await page.locator("#start-job-button").scrollIntoViewIfNeeded();
  const box = await page.locator("#start-job-button").boundingBox();
  assert.ok(box.y + box.height <= 740 && box.height >= 36, JSON.stringify(box));
});

test("the policy of the pages is strict, and the pages keep to it", async () => {
  for (const name of ["jobs.html", "jobTracking.html"]) {
    const answer = await fetch(`${deck.server.url}/${name}`, { headers: { authorization: `Bearer ${await deck.server.token()}` } });
    assert.match(answer.headers.get("content-security-policy"), /default-src 'none'/, name);
    assert.doesNotMatch(await answer.text(), /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|https?:\/\//, name);
  }
});
