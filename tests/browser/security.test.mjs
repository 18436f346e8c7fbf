// Whatever an agent, a file name or a person writes stays text.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { blocks, openSession, openSetup, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const EVIL = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><a href="javascript:window.pwned=1">x</a>`;

/** Nothing ran, and nothing that could run is in the document. */
async function assertHarmless(page) {
  const found = await page.evaluate(() => ({
    pwned: window.pwned,
    scripts: document.querySelectorAll("body script").length,
    handlers: [...document.querySelectorAll("body *")].filter((element) => [...element.attributes].some(({ name }) => name.startsWith("on"))).length,
    links: [...document.querySelectorAll("a[href]")].filter((link) => !/^(https?|mailto):/.test(link.href)).length,
    pictures: [...document.querySelectorAll("img")].filter((image) => image.getAttribute("src") === "x").length,
  }));
  assert.deepEqual(found, { pwned: undefined, scripts: 0, handlers: 0, links: 0, pictures: 0 });
}

test("the policy of the pages is strict, and the pages keep to it", async () => {
  const answer = await fetch(deck.server.url, { headers: { authorization: `Bearer ${await deck.server.token()}` } });
  const policy = answer.headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  const html = await answer.text();
  assert.doesNotMatch(html, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|https?:\/\//);
  const page = await openSetup(deck);
  const violations = page.evaluate(() => new Promise((resolve) => document.addEventListener("securitypolicyviolation", (event) => resolve(event.violatedDirective), { once: true })));
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.pwned = 1";
    document.body.append(script);
  });
  deck.expectConsoleErrors(/Content Security Policy/);
  assert.match(await violations, /script-src/);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
});

test("markup in prompts, titles, answers and errors is shown as it was written", async () => {
  const id = await deck.server.session({ title: EVIL });
  const page = await openSession(deck, id);
  await waitForText(page.locator("#session-title"), EVIL);
  await turn(page, EVIL);
  await waitForText(blocks(page, "User").locator(".message-block-body"), EVIL);
  await blocks(page, "Message").locator(".rendered-content").waitFor();
  await blocks(page, "User").locator(".message-block-raw").click();
  await blocks(page, "User").locator(".rendered-content").waitFor();
  await turn(page, `error ${EVIL}`);
  await waitFor(async () => (await page.locator(".session-error").textContent()).includes("<script>"), "the error as text");
  await page.keyboard.press("Alt+i");
  await page.locator(".inbox-entry").first().waitFor();
  await assertHarmless(page);
  const setup = await openSetup(deck);
  await waitForText(setup.locator(`.session-row[data-session="${id}"] .session-link`), EVIL);
  await assertHarmless(setup);
});

test("a folder whose name is markup is only a name", async () => {
  const folder = path.join(deck.server.folder, `<img src=x onerror=window.pwned=1>`);
  await mkdir(folder, { recursive: true });
  const id = await deck.server.session({ workingDirectory: folder });
  const page = await openSession(deck, id);
  await page.locator(".session-empty").waitFor();
  await page.keyboard.press("Alt+s");
  await waitForText(page.locator(".details-facts"), /<img src=x onerror=window.pwned=1>/);
  await assertHarmless(page);
});

test("markup in every field of every response is text", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  const tool = { toolCallId: "t", toolName: EVIL, toolArguments: JSON.stringify({ command: EVIL }) };
  const responses = [
    { callback: "onUserPrompt", promptId: "p", text: EVIL, queued: true },
    { callback: "onAgentStart", turnId: EVIL },
    { callback: "onStartReasoning", reasoningId: EVIL },
    { callback: "onReasoning", reasoningId: EVIL, delta: EVIL },
    { callback: "onStartMessage", messageId: EVIL },
    { callback: "onMessage", messageId: EVIL, delta: EVIL },
    { callback: "onStartToolExecution", ...tool },
    { callback: "onToolExecution", toolCallId: "t", delta: EVIL },
    { callback: "onPermissionRequested", requestId: EVIL, kind: EVIL, title: EVIL, detail: EVIL, options: ["allow-once", EVIL] },
    { callback: "onPermissionRequested", requestId: "2", kind: "write", title: EVIL, detail: `--- ${EVIL}\n+++ b\n@@ -1 +1 @@\n+${EVIL}`, options: ["deny"] },
    { callback: "onQuestionAsked", requestId: "q", question: EVIL, detail: EVIL, choices: [EVIL], url: "javascript:window.pwned=1" },
    { callback: "onQuestionAsked", requestId: "f", question: EVIL, form: { properties: { [EVIL]: { type: "string", title: EVIL, description: EVIL, enum: [EVIL] } } } },
    { callback: "onNotice", kind: "fresh-session", message: EVIL },
    { callback: "onNotice", kind: EVIL, message: EVIL },
    { callback: "onTitleChanged", title: EVIL },
    { callback: "onStateChanged", state: "failed", detail: EVIL },
    { callback: "onStateChanged", state: EVIL, detail: EVIL },
    { callback: "onBackgroundTasks", tasks: [{ id: EVIL, kind: EVIL, description: EVIL, status: EVIL }] },
    { callback: EVIL, [EVIL]: EVIL },
    { sessionError: EVIL },
  ];
  deck.expectConsoleErrors(/404/);
  let sent = false;
  await page.route(/\/live\//, (route) => {
    // The next call waits, as it does while there is nothing new.
    if (sent) return undefined;
    sent = true;
    return route.fulfill({ json: { responses, lastSeq: responses.length } });
  });
  await page.locator(".session-error").waitFor();
  await page.locator("#details-button").click();
  await page.locator(".details-facts").waitFor();
  await assertHarmless(page);
  assert.equal(await blocks(page, "Tool").locator(".message-block-header-text").textContent(), `Tool (${EVIL}) [receiving...]`);
});
