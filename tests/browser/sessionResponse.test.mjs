// `SessionResponseRenderer` by itself: callbacks in, blocks out.

import assert from "node:assert/strict";
import { test } from "node:test";
import { useDeck } from "./support/index.mjs";

const deck = useDeck();

async function rendererPage() {
  const page = await deck.openPage("/test.html");
  await page.evaluate(async () => {
    const { SessionResponseRenderer } = await import("/sessionResponse.js");
    window.part = document.createElement("div");
    document.body.replaceChildren(window.part);
    window.renderer = new SessionResponseRenderer(window.part);
    window.feed = (...responses) => responses.map((data) => window.renderer.processCallback(data));
    window.headers = () => [...document.querySelectorAll(".message-block-header-text")].map((element) => element.textContent);
    window.bodies = () => [...document.querySelectorAll(".message-block-body")].map((element) => element.textContent);
  });
  return page;
}

test("the container is marked, each response gives its name, and blocks stand in the order of their beginnings", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate(() => ({
    names: window.feed(
      { callback: "onAgentStart", turnId: "t" },
      { callback: "onStartMessage", messageId: "1" },
      { callback: "onStartReasoning", reasoningId: "1" },
      { callback: "onMessage", messageId: "1", delta: "a" },
      { callback: "onReasoning", reasoningId: "1", delta: "b" },
      { callback: "onMessage", messageId: "1", delta: "c" },
      { callback: "onEndReasoning", reasoningId: "1", completeContent: "whole thought" },
    ),
    container: window.part.classList.contains("session-response-container"),
    headers: window.headers(),
    bodies: window.bodies(),
  }));
  assert.deepEqual(seen.names, ["onAgentStart", "onStartMessage", "onStartReasoning", "onMessage", "onReasoning", "onMessage", "onEndReasoning"]);
  assert.ok(seen.container);
  assert.deepEqual(seen.headers, ["Message [receiving...]", "Reasoning"]);
  assert.deepEqual(seen.bodies, ["ac", "whole thought"]);
});

test("the end says that the agent works, for how long, and when it waits for a person", async () => {
  const page = await rendererPage();
  const display = () => page.evaluate(() => document.querySelector(".session-response-awaiting").style.display);
  assert.equal(await display(), "none");
  // Read at once: after a few seconds it says more, that nothing has come since.
  const working = await page.evaluate(() => {
    window.feed({ callback: "onUserPrompt", promptId: "prompt-1", text: "do it", queued: false }, { callback: "onAgentStart", turnId: "t" }, { callback: "onStartMessage", messageId: "1" });
    return window.part.lastElementChild.textContent;
  });
  assert.match(working, /^Working · \d+ s$/);
  assert.equal(await display(), "block");
  await page.evaluate(() => window.feed({ callback: "onPermissionRequested", requestId: "r", kind: "shell", title: "t", detail: "d", options: ["deny"] }));
  assert.equal(await page.evaluate(() => window.part.lastElementChild.textContent), "Waiting for you");
  await page.evaluate(() => window.feed({ callback: "onPermissionAnswered", requestId: "r", decision: "deny", by: "page" }));
  assert.deepEqual(await page.evaluate(() => window.headers()), ["User", "Message [receiving...]"]);
  await page.evaluate(() => window.feed({ callback: "onEndMessage", messageId: "1", completeContent: "done" }, { callback: "onAgentEnd", turnId: "t" }));
  assert.equal(await display(), "block", "the turn is over when it is idle");
  await page.evaluate(() => window.feed({ callback: "onIdle" }));
  assert.equal(await display(), "none");
});

test("a tool block is named after the tool, shows the line that matters and its end", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate(() => {
    const start = (toolCallId, toolName, parameters) => ({ callback: "onStartToolExecution", toolCallId, toolName, toolArguments: JSON.stringify(parameters, null, 2) });
    window.feed(
      start("1", "bash", { command: "cargo test\necho", description: "x" }),
      { callback: "onToolExecution", toolCallId: "1", delta: "out" },
      { callback: "onEndToolExecution", toolCallId: "1", result: { content: "output\n<exited with exit code 3>" } },
      start("2", "report_intent", { intent: "Reading files" }),
      { callback: "onEndToolExecution", toolCallId: "2", result: { content: "ok" } },
      start("3", "edit", { path: "src/a.rs" }),
      { callback: "onEndToolExecution", toolCallId: "3", error: { message: "no such file", code: "denied" } },
    );
    const texts = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent);
    return { headers: window.headers(), summaries: texts(".message-block-summary"), outcomes: texts(".message-block-outcome"), bodies: window.bodies() };
  });
  assert.deepEqual(seen.headers, ["Tool (bash)", "Tool (Reading files)", "Tool (edit)"]);
  assert.deepEqual(seen.summaries, ["cargo test", "", "src/a.rs"]);
  assert.deepEqual(seen.outcomes, ["exit 3", "", "denied"]);
  assert.match(seen.bodies[0], /"command": "cargo test\\necho"[\s\S]*output/);
  assert.match(seen.bodies[2], /no such file/);
});

test("what a seeds' client never heard of, and what has no beginning, breaks nothing", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate(() => {
    const names = window.feed({ callback: "onSomethingNew", x: 1 }, { callback: "onMessage", messageId: "9", delta: "tail" }, { sessionError: "no <b>model</b>" }, { callback: "onEndMessage", messageId: "9", completeContent: "all of it" });
    return { names, headers: window.headers(), bodies: window.bodies(), error: document.querySelector(".session-error").textContent, bold: document.querySelectorAll(".session-error-text b").length };
  });
  assert.deepEqual(seen.names, ["onSomethingNew", "onMessage", null, "onEndMessage"].map((name) => name ?? undefined));
  assert.deepEqual(seen.headers, ["Message"]);
  assert.deepEqual(seen.bodies, ["all of it"]);
  assert.match(seen.error, /no <b>model<\/b>/);
  assert.equal(seen.bold, 1, "only our own word is bold");
});

test("older events go before, and a block that spans two loads is one block at its beginning", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate(() => {
    const event = (seq, response) => ({ seq, time: "2026-01-01T00:00:00Z", response });
    window.renderer.prependEvents([
      event(12, { callback: "onEndToolExecution", toolCallId: "long", result: { content: "finally" } }),
      event(13, { callback: "onEndMessage", messageId: "m", completeContent: "after" }),
    ]);
    const first = window.headers();
    window.renderer.prependEvents([
      event(10, { callback: "onUserPrompt", promptId: "prompt-1", text: "go", queued: false }),
      event(11, { callback: "onStartToolExecution", toolCallId: "long", toolName: "bash", toolArguments: '{"command":"make"}' }),
      event(11.5, { callback: "onStartMessage", messageId: "m" }),
    ]);
    return { first, then: window.headers(), bodies: window.bodies(), pages: [...document.querySelectorAll(".transcript-page")].map((one) => one.children.length) };
  });
  assert.deepEqual(seen.first, ["Tool", "Message"]);
  assert.deepEqual(seen.then, ["User", "Tool (bash)", "Message"]);
  assert.match(seen.bodies[1], /make[\s\S]*finally/);
  assert.deepEqual(seen.pages, [3, 0]);
});

test("a task's prompt is one like a person's, and says whose it is", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate(() => {
    const prompt = (promptId, queued) => ({ callback: "onGeneratedUserPrompt", prompt: promptId, promptId, queued });
    window.feed(prompt("one", false), { callback: "onAgentStart", turnId: "1" }, prompt("two", true));
    const waiting = window.headers();
    window.feed({ callback: "onGeneratedUserPrompt", prompt: "go on" }, { callback: "onIdle" }, { callback: "onAgentStart", turnId: "2" }, prompt("three", false));
    return { waiting, headers: window.headers(), bodies: window.bodies() };
  });
  assert.deepEqual(seen.waiting, ["User (Task)", "User (Task, queued)"]);
  assert.deepEqual(seen.headers, ["User (Task)", "User (generated)", "User (Task)", "User (Task, steering)"]);
  assert.deepEqual(seen.bodies, ["one", "go on", "two", "three"]);
});

test("a prompt that waited stands at the beginning of its own turn", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate(() => {
    const prompt = (promptId, queued) => ({ callback: "onUserPrompt", promptId, text: promptId, queued });
    window.feed(prompt("one", false), { callback: "onAgentStart", turnId: "1" }, prompt("two", true));
    const waiting = window.headers();
    window.feed({ callback: "onEndMessage", messageId: "a", completeContent: "first answer" }, { callback: "onIdle" }, { callback: "onAgentStart", turnId: "2" }, { callback: "onEndMessage", messageId: "b", completeContent: "second answer" }, prompt("three", false));
    return { waiting, headers: window.headers(), bodies: window.bodies() };
  });
  assert.deepEqual(seen.waiting, ["User", "User (queued)"]);
  assert.deepEqual(seen.headers, ["User", "Message", "User", "Message", "User (steering)"]);
  assert.deepEqual(seen.bodies, ["one", "first answer", "two", "second answer", "three"]);
});

test("what is not in the log keeps its place between events, also on a page that was emptied and filled again", async () => {
  const page = await rendererPage();
  const seen = await page.evaluate(() => {
    const remark = (text) => Object.assign(document.createElement("p"), { className: "remark", textContent: text });
    const message = (seq, text) => ({ seq, time: new Date().toISOString(), response: { callback: "onEndMessage", messageId: text, completeContent: text } });
    const texts = () => [...document.querySelectorAll(".message-block-body, .remark")].map((element) => element.textContent);
    const { renderer } = window;
    // After 3, whose event is gone from the log by now; after the last event of the older page; before everything.
    renderer.setRemarks([{ after: 0, element: remark("first") }, { after: 3, element: remark("between") }, { after: 6, element: remark("last of the page") }, { after: 9, element: remark("end") }]);
    renderer.prependEvents([message(8, "c"), message(9, "d")]);
    const newest = texts();
    const older = [message(1, "a"), message(2, "b"), message(5, "b2")];
    const olderPage = renderer.prependEvents(older);
    const all = texts();
    const emptied = renderer.unloadPage(olderPage);
    const without = texts();
    renderer.refillPage(olderPage, older);
    const again = texts();
    const after = renderer.appendRemark(remark("live"));
    return { newest, all, emptied, without, again, after, live: texts().at(-1) };
  });
  const all = ["first", "a", "b", "between", "b2", "last of the page", "c", "d", "end"];
  assert.deepEqual(seen, { newest: ["c", "d", "end"], all, emptied: true, without: ["c", "d", "end"], again: all, after: 9, live: "live" });
});

test("what the past has of a running block stands before what came since", async () => {
  const page = await rendererPage();
  const bodies = await page.evaluate(() => {
    const event = (seq, response) => ({ seq, time: new Date().toISOString(), response });
    const output = (seq, delta) => event(seq, { callback: "onToolExecution", toolCallId: "t", delta });
    const text = (seq, delta) => event(seq, { callback: "onMessage", messageId: "m", delta });
    const { renderer } = window;
    renderer.prependEvents([output(7, "3"), text(8, "c")]);
    window.feed({ callback: "onToolExecution", toolCallId: "t", delta: "4" }, { callback: "onMessage", messageId: "m", delta: "d" });
    renderer.prependEvents([output(5, "2"), text(6, "b")]);
    renderer.prependEvents([event(1, { callback: "onStartToolExecution", toolCallId: "t", toolName: "shell", toolArguments: "{}" }), event(2, { callback: "onStartMessage", messageId: "m" }), output(3, "1"), text(4, "a")]);
    return window.bodies();
  });
  assert.deepEqual(bodies, ["{}\n\n1234", "abcd"]);
});
