// What stands between and on the blocks: times, days, first lines, failures, retries, decisions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStub, blocks, openSession, shown, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const prompt = (number, text = "go") => ({ callback: "onUserPrompt", promptId: `prompt-${number}`, text, queued: false });
const start = (id) => ({ callback: "onAgentStart", turnId: id });
const idle = { callback: "onIdle" };
const notice = (kind, message) => ({ callback: "onNotice", kind, message });
const tool = (id, toolName, parameters) => ({ callback: "onStartToolExecution", toolCallId: id, toolName, toolArguments: JSON.stringify(parameters, null, 2) });
const usage = (inputTokens) => ({ callback: "onUsage", inputTokens, numTurns: 1 });

/** A page with a renderer by itself, as scripts use it; `feed([response, time], …)`. */
async function rendererPage(actions = false) {
  const page = await deck.openPage("/test.html");
  await page.evaluate(async (actions) => {
    for (const name of ["theme.css", "messageBlock.css", "sessionResponse.css"]) {
      const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: name });
      await new Promise((resolve) => {
        link.onload = resolve;
        document.head.append(link);
      });
    }
    const { SessionResponseRenderer } = await import("/sessionResponse.js");
    const part = document.createElement("div");
    document.body.replaceChildren(part);
    const requestActions = actions ? { folder: "/work", answer: async () => {}, askAgain: async (id) => Boolean((window.asked = id)), releaseQueue: async () => true, edit: (text) => (window.edited = text), fork: async (seq) => (window.forked = seq), canChangeModel: true } : null;
    window.renderer = new SessionResponseRenderer(part, { requestActions });
    let seq = 0;
    window.feed = (...events) => events.forEach(([data, time]) => window.renderer.processCallback(data, { seq: (seq += 1), time: new Date(time ?? Date.now()) }));
    window.texts = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent);
  }, actions);
  return page;
}

test("times are the server's, said from one second on, relative, with the exact one on hover", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate((events) => {
    window.feed(...events);
    return { times: window.texts(".message-block-time"), titles: [...document.querySelectorAll('[data-type="Message"] .message-block-time')].map(({ title }) => title), end: window.texts(".turn-end")[0], exact: document.querySelector(".turn-end time").title };
  }, [
    [prompt(1), "2026-03-01T10:00:00.000Z"],
    [start("turn-1"), "2026-03-01T10:00:00.010Z"],
    [{ callback: "onStartMessage", messageId: "short" }, "2026-03-01T10:00:00.100Z"],
    [{ callback: "onEndMessage", messageId: "short", completeContent: "a" }, "2026-03-01T10:00:01.099Z"],
    [{ callback: "onStartMessage", messageId: "long" }, "2026-03-01T10:00:01.100Z"],
    [{ callback: "onEndMessage", messageId: "long", completeContent: "b" }, "2026-03-01T10:00:03.600Z"],
    [usage(100), "2026-03-01T10:00:03.600Z"],
    [idle, "2026-03-01T10:01:05.000Z"],
  ]);
  assert.deepEqual(seen.times.slice(1), ["", "2.5 s"]);
  assert.ok(seen.titles.every((title) => / – /.test(title)));
  assert.match(seen.end, /^1 min 5 s · 100 tokens in · 1 model call · \S/);
  assert.notEqual(seen.exact, "");
});

test("a tab that was there and one that comes later show the same times", async () => {
  const id = await deck.server.session({ model: "demo-slow" });
  const page = await openSession(deck, id);
  // Its own clock stands still, so that it can only show the server's times.
  await page.clock.setFixedTime(Date.now());
  await turn(page, "markdown");
  const times = (one) => one.locator(".message-block-time, .turn-facts > span").allTextContents();
  const live = (await times(page)).filter((text) => /^\d.* s$/.test(text));
  assert.ok(live.length >= 2, JSON.stringify(await times(page)));
  const other = await openSession(deck, id);
  await other.locator(".turn-end").waitFor();
  assert.deepEqual((await times(other)).filter((text) => live.includes(text)), live);
});

test("the end of a turn has the figures of all of it, also when its beginning is loaded later", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate(({ late, early }) => {
    const event = ([seq, time, response]) => ({ seq, time, response });
    window.renderer.prependEvents(late.map(event));
    const before = window.texts(".turn-end");
    window.renderer.prependEvents(early.map(event));
    return { before, after: window.texts(".turn-end") };
  }, {
    early: [[1, "2026-03-01T10:00:00Z", prompt(1)], [2, "2026-03-01T10:00:01Z", start("turn-1")], [3, "2026-03-01T10:00:02Z", usage(100)]],
    late: [[4, "2026-03-01T10:00:03Z", start("turn-1.2")], [5, "2026-03-01T10:00:04Z", usage(200)], [6, "2026-03-01T10:00:05Z", idle], [7, "2026-03-01T10:00:06Z", prompt(2)], [8, "2026-03-01T10:00:06Z", start("turn-2")], [9, "2026-03-01T10:00:08Z", idle]],
  });
  assert.match(seen.before[0], /^(?!.*(model call|5\.0 s))/, "nothing is said that may be wrong");
  assert.match(seen.after[0], /^5\.0 s · 300 tokens in · 2 model calls · /);
  assert.match(seen.after[1], /^2\.0 s · /);
});

test("another day is said, within a page and between pages", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate(({ older, events }) => {
    window.feed(...events.map(([response, time]) => [response, new Date(time)]));
    const days = () => [...document.querySelectorAll(".day-separator")].map(({ dataset, nextElementSibling }) => [dataset.day, nextElementSibling?.dataset.type ?? nextElementSibling?.className]);
    const live = days();
    window.renderer.prependEvents(older.map(([seq, time, response]) => ({ seq, time, response })));
    return { live, all: days(), today: window.texts(".day-separator").at(-1) };
  }, {
    older: [[0.1, "2026-02-27T12:00:00Z", prompt(8, "older")], [0.2, "2026-02-27T12:00:00Z", idle]],
    events: [[prompt(1), "2026-03-01T12:00:00Z"], [idle, "2026-03-01T12:00:00Z"], [prompt(2), "2026-03-03T12:00:00Z"], [idle, "2026-03-03T12:00:01Z"], [prompt(3), Date.now()]],
  });
  assert.deepEqual(seen.live.slice(0, 1), [["Tue Mar 03 2026", "User"]]);
  assert.deepEqual(seen.all.map(([day]) => day).slice(0, 2), ["Sun Mar 01 2026", "Tue Mar 03 2026"]);
  assert.equal(seen.today, "Today");
});

test("collapsed reasoning shows its first line, a running tool one line without its arguments", async () => {
  const page = await rendererPage();
  await page.evaluate((events) => window.feed(...events.map((response) => [response])), [
    start("turn-1"),
    { callback: "onStartReasoning", reasoningId: "r" },
    { callback: "onEndReasoning", reasoningId: "r", completeContent: "\n## **Weighing** the `options`\n\nMore of it." },
    tool("t", "bash", { command: "cargo test", description: "x" }),
  ]);
  await waitForText(page.locator('[data-type="Reasoning"] .message-block-summary'), "Weighing the options");
  const running = page.locator('[data-type="Tool"]');
  await waitForText(running.locator(".message-block-summary"), "cargo test");
  assert.ok((await running.evaluate((element) => element.getBoundingClientRect().height)) < 48, "one line");
  assert.match(await running.locator(".message-block-body").textContent(), /"command": "cargo test"/, "for scripts it is there");
  assert.equal(await running.locator(".message-block-header-text").textContent(), "Tool (bash) [receiving...]");
  await page.evaluate(() => window.feed([{ callback: "onToolExecution", toolCallId: "t", delta: "running 3 tests\n" }]));
  const body = running.locator(".message-block-body");
  await waitFor(() => body.isVisible(), "its output");
  assert.equal((await body.innerText()).trim(), "running 3 tests", "the arguments are not seen");
});

test("a failure is one sentence, with Details, Retry and Change model; a crash is told once", async () => {
  const page = await rendererPage(true);
  await page.evaluate((events) => window.feed(...events.map((response) => [response])), [
    prompt(1),
    start("turn-1"),
    { sessionError: "Copilot's model is overloaded; try again later (429 Too Many Requests: slow down)", errorClass: "rate-limit", raw: "429 Too Many Requests: slow down\nretry-after: 20" },
    idle,
    prompt(2, "crash"),
    start("turn-2"),
    { sessionError: "the agent crashed, as requested", errorClass: "process-gone" },
    notice("interrupted", "The turn was interrupted: the agent crashed, as requested. A tool was running; it may have done its work."),
    idle,
  ]);
  const [first, second] = [page.locator(".session-error").nth(0), page.locator(".session-error").nth(1)];
  assert.equal(await first.locator(".session-error-text").textContent(), "Failed Copilot's model is overloaded; try again later.");
  assert.ok(await first.locator("pre").isHidden());
  await first.getByText("Details").click();
  await waitForText(first.locator("pre"), /retry-after: 20/);
  await page.evaluate(() => document.addEventListener("flightdeck:change-model", (event) => {
    event.preventDefault();
    window.changing = true;
  }));
  await first.getByRole("button", { name: "Change model" }).click();
  assert.equal(await page.evaluate(() => window.changing), true);
  assert.equal(await second.locator(".session-error-text").textContent(), "Failed the agent crashed, as requested. A tool was running; it may have done its work.");
  assert.equal(await page.locator(".session-notice").count(), 0, "told once");
  assert.equal(await second.getByRole("button", { name: "Change model" }).count(), 0, "another model would crash as well");
  await second.getByRole("button", { name: "Retry" }).click();
  await waitForText(second.getByRole("button", { name: "Asked again" }), "Asked again");
  assert.equal(await page.evaluate(() => window.asked), "prompt-2");
});

test("what a failure offers: Details if there is more to read, Change model if the model may be the reason", async () => {
  const page = await rendererPage(true);
  const failures = [
    { sessionError: "Copilot's login was rejected (401 Unauthorized: bad key)", errorClass: "auth", raw: "401 Unauthorized: bad key" },
    { sessionError: "The model does not exist (404 model_not_found)", errorClass: "model-unavailable", raw: "404 model_not_found" },
    { sessionError: "The service failed (503 upstream)", errorClass: "network", raw: "503 upstream" },
    { sessionError: "Copilot exited: exit status: 134; stderr: fatal error: out of memory\n  at heap.c:17", errorClass: "process-gone" },
    { sessionError: "Pi is gone: stderr: Segmentation fault", errorClass: "process-gone" },
    { sessionError: "the demo agent crashed, as requested", errorClass: "process-gone" },
  ];
  await page.evaluate((events) => window.feed(...events.map((response) => [response])), failures.flatMap((failure, index) => [prompt(index + 1), start(`turn-${index + 1}`), failure, idle]));
  const lines = await page.locator(".session-error").evaluateAll((errors) =>
    errors.map((error) => ({
      sentence: error.querySelector(".session-error-text").textContent.replace(/^Failed /, ""),
      details: error.querySelector("pre")?.textContent ?? null,
      buttons: [...error.querySelectorAll("button")].filter((button) => !button.hidden).map((button) => button.textContent),
    })),
  );
  assert.deepEqual(lines, [
    { sentence: "Copilot's login was rejected.", details: "401 Unauthorized: bad key", buttons: ["Retry", "Change model"] },
    { sentence: "The model does not exist.", details: "404 model_not_found", buttons: ["Retry", "Change model"] },
    { sentence: "The service failed.", details: "503 upstream", buttons: ["Retry", "Change model"] },
    { sentence: "Copilot exited: exit status: 134.", details: "fatal error: out of memory\n  at heap.c:17", buttons: ["Retry"] },
    { sentence: "Pi is gone.", details: "Segmentation fault", buttons: ["Retry"] },
    { sentence: "the demo agent crashed, as requested", details: null, buttons: ["Retry"] },
  ]);
});

test("Change model goes to the switch beside the request, or opens the details where it cannot be used", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "error no model");
  // The switches are made again when the agents come and when the models do.
  await page.locator("#composer-model:enabled option[value=demo-slow]").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Change model" }).click();
  await waitFor(() => page.evaluate(() => document.activeElement.id === "composer-model"), "the focus on the switch");
  await page.locator("#composer-model").evaluate((element) => (element.disabled = true));
  await page.getByRole("button", { name: "Change model" }).click();
  await page.locator("#details-model").waitFor();
});

test("a tool that waits for a permission says so, and runs once it is answered", async () => {
  const page = await rendererPage(true);
  const state = (id) => page.locator('[data-type="Tool"]', { hasText: id }).locator(".message-block-state").evaluate((element) => getComputedStyle(element, "::after").content);
  const asks = (requestId, toolCallId) => ({ callback: "onPermissionRequested", requestId, kind: "shell", title: "The agent wants to run a command", detail: "make", options: ["allow-once", "deny"], toolCallId });
  const answers = (requestId) => ({ callback: "onPermissionAnswered", requestId, decision: "allow-once", by: "page" });
  const feed = (...responses) => page.evaluate((events) => window.feed(...events.map((response) => [response])), responses);
  await feed(prompt(1), start("turn-1"), tool("one", "one", { command: "make" }), tool("two", "two", { command: "ls" }), asks("request-1", "one"), asks("request-2", "one"));
  assert.equal(await state("one"), '"waiting for you"');
  assert.equal(await state("two"), '"running"', "only the one that was asked about");
  assert.equal(await page.locator(".message-block-header-text", { hasText: "one" }).textContent(), "Tool (one) [receiving...]", "for scripts as ever");
  await feed(answers("request-1"));
  assert.equal(await state("one"), '"waiting for you"', "it waits for the other one");
  await feed(answers("request-2"));
  assert.equal(await state("one"), '"running"');
  // Some agents ask before they say that the tool begins.
  await feed(asks("request-3", "three"), tool("three", "three", { command: "rm" }));
  assert.equal(await state("three"), '"waiting for you"');
});

test("a denial is not repeated in other words, and partial answers before a retry are one line", async () => {
  const page = await rendererPage();
  const message = (messageId, completeContent, incomplete) => [{ callback: "onStartMessage", messageId }, { callback: "onEndMessage", messageId, completeContent, ...(incomplete ? { incomplete } : {}) }];
  await page.evaluate((events) => window.feed(...events.map((response) => [response])), [
    prompt(1),
    { callback: "onPermissionRequested", requestId: "request-2", kind: "shell", title: "t", detail: "rm x", options: ["deny"] },
    { callback: "onPermissionAnswered", requestId: "request-2", decision: "deny", by: "page" },
    notice("info", "Operation cancelled by user"),
    ...message("denied", "Info: Operation cancelled by user"),
    idle,
    prompt(2),
    start("turn-2"),
    ...message("a", "half an answer", true),
    notice("retrying", "The stream broke. Retrying..."),
    ...message("b", "half again", true),
    notice("retrying", "The stream broke. Retried 2 times."),
    ...message("c", "the whole answer"),
    idle,
    prompt(3),
    start("turn-3"),
    ...message("d", "cut by the person", true),
    notice("interrupted", "The turn was interrupted."),
    idle,
  ]);
  assert.deepEqual(await page.locator(".session-notice").allTextContents(), ["The stream broke. Retried 2 times. ", "The turn was interrupted. "]);
  assert.deepEqual(await page.locator(".partial-outputs summary").allTextContents(), ["2 partial answers before a retry"]);
  const visible = await page.locator('[data-type="Message"]').evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.querySelector(".message-block-body").textContent));
  assert.deepEqual(visible, ["the whole answer", "cut by the person"], "an answer that was interrupted is not folded");
});

test("what was allowed is said in a few words", async () => {
  const page = await rendererPage(true);
  const asked = (id, detail) => ({ callback: "onPermissionRequested", requestId: id, kind: "write", title: "Write a file", detail, options: ["allow-once", "deny"] });
  const allowed = (requestId) => ({ callback: "onPermissionAnswered", requestId, decision: "allow-once", by: "page" });
  await page.evaluate((events) => window.feed(...events.map((response) => [response])), [
    prompt(1),
    asked("request-2", "diff --git a/work/new.txt b/work/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b//work/new.txt\n@@ -0,0 +1 @@\n+hello\n"),
    asked("request-3", "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,4 @@\n keep\n-old\n+new\n+more\n--- a/src/b.rs\n+++ /dev/null\n"),
    asked("request-4", "@@ only a hunk @@\n+x"),
    // As Copilot writes them: the prefix takes the place of the first slash.
    asked("request-5", "\ndiff --git a/work/a/note.txt b/work/a/note.txt\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ b/work/a/note.txt\n@@ -1,0 +1,2 @@\n+one\n+two\n"),
    allowed("request-2"),
    allowed("request-3"),
    allowed("request-4"),
    allowed("request-5"),
  ]);
  assert.deepEqual(await page.locator(".request-answer .request-verdict").allTextContents(), Array(4).fill("Allowed once"));
  const about = await page.locator(".request-about").allTextContents();
  assert.equal(about[0], "create new.txt +1");
  assert.match(about[1], /^edit src\/a\.rs \+\d −\d$/);
  assert.equal(about[2], "Write a file");
  assert.equal(about[3], "create a/note.txt +2");
});

test("the working line says that nothing has come for a while", async () => {
  const page = await deck.openPage("/test.html");
  const text = await page.evaluate(async () => {
    const { WorkingLine } = await import("/session/workingLine.js");
    const line = new WorkingLine(() => false);
    const now = Date.now();
    const real = Date.now;
    // A millisecond that passed here would be missing below.
    Date.now = () => now;
    line.show(now);
    Date.now = () => now + 12_000;
    line.update();
    const silent = line.element.textContent;
    line.heard();
    const heard = line.element.textContent;
    Date.now = real;
    line.hide();
    return { silent, heard };
  });
  assert.deepEqual(text, { silent: "Working · 12 s · no output for 12 s", heard: "Working · 12 s" });
});

test("a session that two days hold is separated in the page too, with its log from the server", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const context = await deck.openContext();
  const log = await LogStub.use({ deck, context, id });
  for (const event of log.events) event.time = "2026-03-01T12:00:00Z";
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await blocks(page, "User").first().waitFor();
  log.add(prompt(2, "another day"));
  await waitForText(page.locator(".day-separator").last(), "Today");
});
