// What a person approves is what would run: no character hides, reorders others or pushes them out of sight.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { LogStub, folderKnown, openSession, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

/** What `lib/exactText.js` makes of texts: marks in angle brackets. */
async function exact(texts, options) {
  const page = await deck.openPage("/test.html");
  return page.evaluate(
    async ([texts, options]) => {
      const { exactNodes } = await import("/lib/exactText.js");
      return texts.map((text) => exactNodes(text, options).map((node) => (typeof node === "string" ? node : `<${node.textContent}>`)).join(""));
    },
    [texts, options],
  );
}

async function check(cases, options) {
  assert.deepEqual(await exact(Object.keys(cases), options), Object.values(cases));
}

test("characters that reorder, hide or imitate are marked, each by its number", async () => {
  await check({
    "rm \u202Etxt.elif": "rm <U+202E>txt.elif",
    "a\u061Cb\u200Ec\u200Fd\u2066e\u2069f": "a<U+061C>b<U+200E>c<U+200F>d<U+2066>e<U+2069>f",
    "r\u200Bm\u200C-\u200Dr\uFEFFf\u00AD/": "r<U+200B>m<U+200C>-<U+200D>r<U+FEFF>f<U+00AD>/",
    "x\u{E0001}\u{E0061}\u{E007F}y": "x<U+E0001><U+E0061><U+E007F>y",
    "a\0b\u001B[31mc\rd\u007Fe\u0085f": "a<U+0000>b<U+001B>[31mc<U+000D>d<U+007F>e<U+0085>f",
    "a\u00A0b\u2003c\u3000d\u2800e\u2028f\u3164g": "a<U+00A0>b<U+2003>c<U+3000>d<U+2800>e<U+2028>f<U+3164>g",
    "a\uD800b\uDC00c": "a<U+D800>b<U+DC00>c",
    "1\uFE0F a\uFE0Fb\u{E0100}": "1<U+FE0F> a<U+FE0F>b<U+E0100>",
    "/\u0338x\uE000\uFFFF": "/<U+0338>x<U+E000><U+FFFF>",
  });
});

test("what looks like what it is stays as it is", async () => {
  const plain = ["git commit -m 'Grüße, 你好, привет'", "👩‍👩‍👧 ❤️ 1️⃣ 🏳️‍🌈 ✔︎", "e\u0301te\u0301 हिन्दी", "if x:\n    y\n\n\n    z\n\tw", "a  b", "<b>&amp;</b>"];
  await check(Object.fromEntries(plain.map((text) => [text, text])));
});

test("runs are shortened and say what they were", async () => {
  await check({
    [`ls${"\n".repeat(200)}rm`]: "ls<200 line breaks>\nrm",
    [`ls${" ".repeat(3000)}; rm`]: "ls<3,000 spaces>; rm",
    [`ls${"\n \t".repeat(40)}rm`]: "ls<40 line breaks, 40 spaces, 40 tabs>\nrm",
    [`ls${"\u200B".repeat(500)}rm`]: "ls<500 × U+200B>rm",
    [`ls${"\r\n".repeat(30)}rm`]: "ls<30 × U+000D, 30 line breaks>\nrm",
    [`a${"\u0301".repeat(200)}b`]: `a${"\u0301".repeat(4)}<196 × U+0301>b`,
  });
});

test("in one line, line breaks are marked too", async () => {
  await check({ "run\nls": "run<↵>ls", [`run${"\n".repeat(9)}ls`]: "run<9 line breaks>ls" }, { oneLine: true });
});

test("very many marks are still all said, as text", async () => {
  const page = await deck.openPage("/test.html");
  const { marks, text } = await page.evaluate(async () => {
    const { exactNodes } = await import("/lib/exactText.js");
    const nodes = exactNodes("a\u202E".repeat(5000));
    return { marks: nodes.filter((node) => typeof node !== "string").length, text: nodes.map((node) => (typeof node === "string" ? node : `[${node.textContent}]`)).join("") };
  });
  assert.equal(marks, 2000);
  assert.equal(text, "a[U+202E]".repeat(5000));
});

const EVIL = "ls \u202Efr- mr\u202C\u200B\0";
const SHOWN = "ls U+202Efr- mrU+202CU+200BU+0000";
const permission = (more) => ({ callback: "onPermissionRequested", requestId: "request-9", kind: "shell", title: `Run ${EVIL}`, detail: EVIL, options: ["allow-once", "allow-always", "deny"], ...more });

async function cardPage(request, context = {}) {
  const id = await deck.server.session({ title: "Exact" });
  await deck.server.turn(id, "hello");
  const opened = await deck.openContext(context);
  await LogStub.use({ deck, context: opened, id, responses: [{ callback: "onUserPrompt", promptId: "prompt-2", text: "go", queued: false }, { callback: "onAgentStart", turnId: "turn-2" }, request] });
  const page = await opened.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await page.locator(".request-block.waiting").waitFor();
  return page;
}

test("a card marks what deceives in title, command, kind and choices, and keeps the order in which it would run", async () => {
  const page = await cardPage(permission({ kind: "sh\u202Eell" }));
  await waitForText(page.locator(".request-detail"), SHOWN);
  await waitForText(page.locator(".request-headline"), `Run ${SHOWN}`);
  assert.match(await page.locator(".request-place").textContent(), /shU\+202Eell in /);
  assert.match(await page.locator(".decision-allow-always").textContent(), /Always allow shU\+202Eell/);
  assert.equal(await page.locator(".request-detail .exact-mark").count(), 4);
  assert.equal(await page.locator(".request-detail").evaluate((element) => getComputedStyle(element).unicodeBidi), "isolate-override");
  assert.equal(await page.locator(".request-headline").evaluate((element) => getComputedStyle(element).unicodeBidi), "isolate");
  const status = await page.locator("body").textContent();
  assert.ok(!/[\u202A-\u202E\u200B]/.test(status), "not one of them is anywhere on the page");
});

test("letters written from right to left do not reorder the command", async () => {
  const page = await cardPage(permission({ detail: "rm א /home # ב" }));
  const places = await page.locator(".request-detail").evaluate((element) => {
    const node = element.firstChild;
    const left = (at) => {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      return range.getBoundingClientRect().left;
    };
    return [...node.data].map((_, at) => left(at));
  });
  assert.deepEqual(places, places.toSorted((one, other) => one - other));
});

test("a command cannot be pushed out of sight, and a long one says how long it is and scrolls in the card", async () => {
  const page = await cardPage(permission({ detail: `ls${"\n".repeat(200)}rm -rf ~`, title: `List files${"\n".repeat(100)}` }));
  await waitForText(page.locator(".request-detail"), "ls200 line breaks\nrm -rf ~");
  const { bottom } = await page.locator(".request-detail").boundingBox().then(({ y, height }) => ({ bottom: y + height }));
  assert.ok(bottom < 600, `all of it is in view: ${bottom}`);
  await waitForText(page.locator(".request-size"), "201 lines, 210 characters in total");
  const long = await cardPage(permission({ detail: Array.from({ length: 300 }, (_, line) => `echo ${line}`).join("\n"), title: "x".repeat(20_000) }));
  await waitForText(long.locator(".request-size"), /^300 lines, .* characters/);
  const card = await long.locator(".request-block").boundingBox();
  assert.ok(card.height < 620, `the buttons stay near: ${card.height}`);
  const scrolls = await long.locator(".request-detail").evaluate((element) => element.scrollHeight > element.clientHeight && element.scrollWidth <= element.clientWidth);
  assert.ok(scrolls, "down, and never sideways");
  assert.match(await long.locator(".request-detail").textContent(), /echo 299$/);
});

test("title, command and buttons are in view together, on a desktop and on a phone", async () => {
  const detail = Array.from({ length: 300 }, (_, line) => `echo ${line}`).join("\n");
  for (const context of [{ viewport: { width: 1280, height: 800 } }, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }]) {
    const page = await cardPage(permission({ detail, title: "Copilot wants to run a command" }), context);
    const fits = () =>
      page.evaluate(() => {
        const box = (selector) => document.querySelector(selector).getBoundingClientRect();
        const part = box("#session-part");
        return box(".request-title").top >= part.top && box(".request-feedback").bottom <= part.bottom;
      });
    await waitFor(fits, `the whole card at ${context.viewport.width} pixels`);
  }
});

test("a diff is exact too, and a command that looks like one is shown as a command", async () => {
  const diff = `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new \u202Ex${" ".repeat(300)}y\n${"+\n".repeat(200)}+end\n`;
  const page = await cardPage(permission({ kind: "write", detail: diff }));
  assert.deepEqual(await page.locator(".diff-added").allTextContents(), ["+new U+202Ex300 spacesy\n", "+200 blank lines\n", "+end\n"]);
  const command = await cardPage(permission({ detail: `cat <<E > x\n${diff}E\nrm -rf ~` }));
  assert.equal(await command.locator(".diff-line").count(), 0);
  assert.match(await command.locator(".request-detail").textContent(), /rm -rf ~$/);
});

test("a question, its choices, its form and its plan are marked", async () => {
  const page = await cardPage({ callback: "onQuestionAsked", requestId: "request-9", question: "Go \u202Eon?", choices: ["ye\u200Bs", "no"], url: "https://example.com/\u202Egpj" });
  await waitForText(page.locator(".request-question"), "Go U+202Eon?");
  await waitForText(page.locator(".request-choice bdi").first(), "yeU+200Bs");
  await waitForText(page.locator(".request-facts a"), "https://example.com/U+202Egpj");
  const form = await cardPage({ callback: "onQuestionAsked", requestId: "request-9", question: "?", form: { type: "object", properties: { a: { type: "string", title: "Na\u200Bme", enum: ["x\u202Ey"] } } } });
  await waitForText(form.locator(".form-field label bdi"), "NaU+200Bme");
  assert.deepEqual(await form.locator(".form-field option").allTextContents(), ["(none)", "x[U+202E]y"]);
});

test("the line that is left of an answered request is marked", async () => {
  const page = await deck.openPage("/test.html");
  const line = await page.evaluate(async (request) => {
    const { PermissionBlock } = await import("/session/requests.js");
    const block = new PermissionBlock(request, null);
    block.answered({ decision: "deny", by: "page" }, new Date(), null);
    const about = block.divElement.querySelector(".request-about");
    return [about.textContent, about.title];
  }, permission());
  assert.deepEqual(line, [SHOWN, "ls [U+202E]fr- mr[U+202C][U+200B][U+0000]"]);
});

test("the inbox, the tab's title, the header and a notification are marked", async () => {
  const context = await deck.openContext({ permissions: ["notifications"] });
  await context.addInitScript(() => {
    window.notified = [];
    window.Notification = class {
      static permission = "granted";
      constructor(title, { body }) {
        window.notified.push([title, body]);
      }
    };
    if (location.protocol !== "about:") localStorage.setItem("flightdeck.notifications", "on");
  });
  const id = await deck.server.session({ title: "Ti\u202Etle" });
  const page = await context.newPage();
  const entry = (pending) => `data: ${JSON.stringify({ sessionId: "session-99", title: "Na\u202Eme", state: "waiting", pending })}\n\n`;
  const request = { requestId: "request-9", kind: "permission", headline: `Run\n${EVIL} ${"x ".repeat(5000)}`, askedAt: new Date(Date.now() - 3 * 3_600_000).toISOString() };
  await page.route(/\/api\/events$/, (route) => route.fulfill({ contentType: "text/event-stream", body: entry([]) + entry([request]) }));
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await waitFor(async () => (await page.title()) === "(1) Ti[U+202E]tle · Flightdeck", "the title");
  await waitForText(page.locator("#session-title"), "TiU+202Etle");
  await waitFor(() => page.evaluate(() => window.notified.length), "the notification");
  assert.deepEqual(await page.evaluate(() => window.notified[0]), ["Na[U+202E]me needs your input", `Run[↵]ls [U+202E]fr- mr[U+202C][U+200B][U+0000] ${"x ".repeat(5000)}`]);
  // Only the stream knows this session.
  deck.expectConsoleErrors(/404.*session-99/);
  await page.locator("#inbox-button").click();
  await waitFor(async () => (await page.locator(".inbox-headline").textContent()).startsWith(`Run↵${SHOWN}`), "the headline");
  await waitForText(page.locator(".inbox-title"), "NaU+202Eme");
  await waitForText(page.locator(".inbox-age"), "3 h ago");
  assert.ok((await page.locator(".inbox-request").boundingBox()).height < 100);
});

/** A session in a folder whose name deceives, and that folder. */
async function inEvilFolder(name) {
  const folder = path.join(deck.server.folder, name);
  mkdirSync(folder, { recursive: true });
  return { folder, id: await deck.server.session({ workingDirectory: folder }) };
}

const checkNothingIsRaw = async (page) => assert.ok(!/[\u202A-\u202E\u200B]/.test(await page.locator("body").textContent()), "not one of them is anywhere on the page");

test("a session's folder and its notices are marked", async () => {
  const { id } = await inEvilFolder("a\u202Egnp\u200B");
  const page = await openSession(deck, id);
  await waitForText(page.locator(".session-empty code"), /\/aU\+202EgnpU\+200B$/);
  await waitForText(page.locator(".fact-folder .path-short"), "aU+202EgnpU+200B");
  assert.match(await page.locator(".fact-folder").getAttribute("title"), /^Copy .*\/a\[U\+202E\]gnp\[U\+200B\]$/);
  await page.locator("#details-button").click();
  await waitForText(page.locator(".copyable code", { hasText: "gnp" }), /\/aU\+202EgnpU\+200B$/);
  await checkNothingIsRaw(page);
  await deck.server.turn(id, "hello");
  const context = await deck.openContext();
  await LogStub.use({ deck, context, id, responses: [{ callback: "onNotice", kind: "warning", message: "The agent runs without them: x\u202Ey." }] });
  const noticed = await context.newPage();
  await noticed.goto(`${deck.server.url}/?session=${id}`);
  await waitForText(noticed.locator('.session-notice[data-kind="warning"] .session-notice-text'), "The agent runs without them: xU+202Ey.");
  await checkNothingIsRaw(noticed);
});

test("folders and MCP servers are marked where they are chosen, and are sent as they are", async () => {
  deck.expectConsoleErrors(/400/);
  const { folder, id } = await inEvilFolder("b\u202Egnp\u200B");
  const server = "rtl\u202Egnp";
  const context = await deck.openContext();
  const option = { name: "mcpServers", kind: "mcp-servers", label: "MCP servers", hint: "Tools.", choices: [{ value: server, label: server }] };
  await context.route(/\/api\/runtimes$/, async (route) => {
    const { runtimes, ...more } = await (await route.fetch()).json();
    await route.fulfill({ json: { ...more, runtimes: runtimes.map((runtime) => ({ ...runtime, options: [option] })) } });
  });
  const asked = [];
  await context.route(/\/api\/copilot\/session$/, async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    asked.push(route.request().postDataJSON());
    return route.fulfill({ status: 400, json: { error: "Refused", message: "Refused." } });
  });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await folderKnown(page);
  const row = page.locator(`.session-row[data-session="${id}"] .session-folder`);
  await waitForText(row.locator(".path-end"), "bU+202EgnpU+200B");
  assert.match(await row.getAttribute("title"), /\/b\[U\+202E\]gnp\[U\+200B\]$/);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  await page.locator("#more-options-button").click();
  const box = page.locator('[data-option="mcpServers"]').getByRole("checkbox", { name: "rtl[U+202E]gnp" });
  await waitForText(page.locator('[data-option="mcpServers"] .server-list label'), "rtlU+202Egnp");
  await box.uncheck();
  await page.locator("#working-dir").fill(deck.server.folder);
  await page.locator("#browse-button").click();
  const picker = page.locator(".picker-dialog");
  await picker.locator(".picker-folder", { hasText: "bU+202EgnpU+200B" }).click();
  await waitForText(picker.locator(".picker-exact"), /\/bU\+202EgnpU\+200B$/);
  await checkNothingIsRaw(page);
  await picker.getByRole("button", { name: "Use this folder" }).click();
  // A dialog says that it has closed a moment after it has.
  await waitFor(async () => (await page.locator("#working-dir").inputValue()) === folder, "the chosen folder");
  await page.locator("#start-button").click();
  await waitFor(() => asked.length === 1, "what is sent");
  assert.deepEqual([asked[0].workingDirectory, asked[0].options], [folder, { mcpServers: { [server]: null } }]);
});

test("the line of a tool call is marked", async () => {
  const page = await deck.openPage("/test.html");
  const line = await page.evaluate(async (command) => {
    const { SessionResponseRenderer } = await import("/sessionResponse.js");
    const part = document.createElement("div");
    document.body.replaceChildren(part);
    new SessionResponseRenderer(part).processCallback({ callback: "onStartToolExecution", toolCallId: "t", toolName: "bash", toolArguments: JSON.stringify({ command }) });
    const summary = part.querySelector(".message-block-summary");
    return [summary.textContent, summary.title];
  }, EVIL);
  assert.deepEqual(line, [SHOWN, "ls [U+202E]fr- mr[U+202C][U+200B][U+0000]"]);
});

test("a plan is marked where the server renders it", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await page.evaluate(async () => {
    const { QuestionBlock } = await import("/session/requests.js");
    const block = new QuestionBlock({ requestId: "r", question: "Go?", detail: "x" }, null);
    document.querySelector("#session-part").append(block.divElement);
    await block.renderWith(async () => "<p>delete <b>\u202Eall</b></p>");
  });
  await waitForText(page.locator(".request-rendered"), "delete U+202Eall");
});
