// The request part: queue, steer, interrupt, history, drafts, attachments, and what does not fit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, openSession, painted, reconnect, send, shown, taken, turn, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const deck = useDeck();

const textarea = (page) => page.locator("#request-textarea");
const prompts = async (id) => (await deck.server.log(id)).filter(({ response }) => response.callback === "onUserPrompt").map(({ response }) => response);

test("while the agent works, requests queue and the turn can be interrupted", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  for (const name of ["queue", "steer", "interrupt"]) assert.ok(await page.locator(`#${name}-button`).isHidden(), name);
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  for (const name of ["queue", "steer", "interrupt"]) assert.ok(await page.locator(`#${name}-button`).isVisible(), name);
  assert.ok(await page.locator("#send-button").isDisabled());
  assert.ok(await page.locator("#steer-button").isDisabled(), "the demo takes nothing while it works");
  await send(page, "hello one", "Alt+Enter");
  await waitForText(blocks(page, "User").last().locator(".message-block-header-text"), "User (queued)");
  await taken(page);
  await textarea(page).fill("hello two");
  await page.locator("#queue-button").click();
  await waitFor(async () => (await blocks(page, "User").count()) === 3, "the second queued request");
  await page.locator("#interrupt-button").click();
  await waitFor(() => page.evaluate(() => document.activeElement.id === "request-textarea"), "the focus in the box once the button is gone");
  await waitFor(async () => (await page.locator(".turn-end").count()) === 3, "all three turns");
  await waitFor(() => page.locator("#send-button").isEnabled(), "the send button");
  assert.deepEqual((await prompts(id)).map(({ text, queued }) => [text, queued]), [["permission", false], ["hello one", true], ["hello two", true]]);
  await waitFor(async () => !(await blocks(page, "User").locator(".message-block-header-text").allTextContents()).some((text) => text.includes("queued")), "nothing is queued any more");
});

test("an agent that can be steered gets the request in its turn", async () => {
  const id = await deck.server.session();
  const context = await deck.openContext();
  await context.route(/\/api\/runtimes$/, async (route) => {
    const answer = await route.fetch();
    const { runtimes } = await answer.json();
    await route.fulfill({ json: { runtimes: runtimes.map((one) => ({ ...one, capabilities: { ...one.capabilities, steering: true } })) } });
  });
  const sent = [];
  await context.route(/\/prompt$/, async (route) => {
    const body = route.request().postDataJSON();
    sent.push(body);
    if (body.mode === "steer") await route.fulfill({ json: { promptId: "prompt-1" } });
    else await route.continue();
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator(".session-empty").waitFor();
  await send(page, "permission");
  await waitFor(() => page.locator("#steer-button").isEnabled(), "the steer button");
  await send(page, "rather this way", "Control+Shift+Enter");
  await waitFor(() => sent.length === 2, "the steering");
  assert.deepEqual([sent[1].mode, sent[1].text], ["steer", "rather this way"]);
  await taken(page);
});

test("the arrow keys bring earlier requests back, and what was being written too", async () => {
  const page = await openSession(deck, await deck.server.session());
  await turn(page, "hello first");
  await turn(page, "hello second\nwith two lines");
  await page.reload();
  await waitFor(async () => (await blocks(page, "User").count()) === 2, "the history");
  await textarea(page).fill("unfinished");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello second\nwith two lines");
  await page.keyboard.press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello first");
  await page.keyboard.press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello first", "there is nothing before the first");
  await page.keyboard.press("ArrowDown");
  assert.equal(await textarea(page).inputValue(), "hello second\nwith two lines");
  await page.keyboard.press("ArrowDown");
  assert.equal(await textarea(page).inputValue(), "unfinished");
  await textarea(page).fill("one\ntwo");
  await page.keyboard.press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "one\ntwo", "within a text the keys move the cursor");
});

/** A session with two requests, "hello first" and "hello second", and a text that is not sent. */
async function withUnsentText() {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello first");
  await deck.server.turn(id, "hello second");
  const page = await openSession(deck, id);
  await waitFor(async () => (await blocks(page, "User").count()) === 2, "the history");
  await textarea(page).fill("unfinished");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello second");
  return page;
}

test("typing into an earlier request does not lose what was being written, nor the change", async () => {
  const page = await withUnsentText();
  await page.keyboard.type("Now ");
  assert.equal(await textarea(page).inputValue(), "Now hello second");
  await page.keyboard.press("ArrowDown");
  assert.equal(await textarea(page).inputValue(), "unfinished");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "Now hello second");
  await page.keyboard.press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello first");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await textarea(page).inputValue(), "unfinished");
});

test("a request that arrives meanwhile does not lose what was being written, and sending starts over", async () => {
  const page = await withUnsentText();
  const id = new URL(page.url()).searchParams.get("session");
  await deck.server.turn(id, "hello from elsewhere");
  await waitFor(async () => (await blocks(page, "User").count()) === 3, "the request from elsewhere");
  await waitFor(() => page.locator("#send-button").isEnabled(), "the send button");
  await page.keyboard.press("ArrowDown");
  assert.equal(await textarea(page).inputValue(), "hello from elsewhere");
  await page.keyboard.press("ArrowDown");
  assert.equal(await textarea(page).inputValue(), "unfinished");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.type("hello again: ");
  await turn(page, "hello again");
  assert.equal(await textarea(page).inputValue(), "");
  await page.keyboard.press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello again");
  await page.keyboard.press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello from elsewhere", "as it was sent");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await textarea(page).inputValue(), "");
});

test("bringing an earlier request back can be undone, and a reload brings back what was being written", async () => {
  const page = await withUnsentText();
  await page.reload();
  await waitFor(async () => (await textarea(page).inputValue()) === "unfinished", "the draft");
  await waitFor(async () => (await blocks(page, "User").count()) === 2, "the history");
  await textarea(page).press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello second");
  await page.keyboard.press("Control+z");
  assert.equal(await textarea(page).inputValue(), "unfinished");
});

test("a command that is brought back opens no list, so the arrow keys go on", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  await deck.server.turn(id, "/nothing");
  const page = await openSession(deck, id);
  await waitFor(async () => (await blocks(page, "User").count()) === 2, "the history");
  await page.locator("#composer-mode").waitFor();
  const calls = watchCalls(page, /\/api\/prompts$/);
  await textarea(page).press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "/nothing");
  await painted(page);
  assert.deepEqual(calls.all, [], "nobody asks what it could be completed with");
  await textarea(page).press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello");
});

test("requests from before the first screens are brought back too", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello long ago");
  await deck.server.turn(id, "blocks 60");
  const page = await openSession(deck, id);
  await page.locator("#session-part").evaluate((part) => part.scrollTo({ top: 0 }));
  // The first of them may be on an older page than the second.
  await waitFor(async () => (await blocks(page, "User").count()) === 2, "both requests");
  await textarea(page).press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "blocks 60");
  await textarea(page).press("ArrowUp");
  assert.equal(await textarea(page).inputValue(), "hello long ago");
});

test("a draft stays over a reload, per session, and goes when it is sent", async () => {
  const [one, other] = [await deck.server.session(), await deck.server.session()];
  const page = await openSession(deck, one);
  await textarea(page).fill("hello, half a thought");
  await page.reload();
  await waitFor(async () => (await textarea(page).inputValue()) === "hello, half a thought", "the draft");
  await page.goto(`${deck.server.url}/?session=${other}`);
  await page.locator(".session-empty").waitFor();
  assert.equal(await textarea(page).inputValue(), "");
  await page.goto(`${deck.server.url}/?session=${one}`);
  await waitFor(async () => (await textarea(page).inputValue()) === "hello, half a thought", "the draft");
  await textarea(page).press("Control+Enter");
  await page.locator(".turn-end").waitFor();
  await taken(page);
  await page.reload();
  await blocks(page, "User").waitFor();
  assert.equal(await textarea(page).inputValue(), "");
});

/** Puts files onto the page as a drop or a paste does. */
async function give(page, kind, files) {
  await page.evaluate(
    ({ kind, files }) => {
      const transfer = new DataTransfer();
      for (const { name, type, size } of files) transfer.items.add(new File([new Uint8Array(size).fill(65)], name, { type }));
      if (kind === "paste") document.querySelector("#request-textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
      else {
        for (const step of ["dragenter", "dragover", "drop"]) document.querySelector("#session-part").dispatchEvent(new DragEvent(step, { dataTransfer: transfer, bubbles: true, cancelable: true }));
      }
    },
    { kind, files },
  );
}

test("files are attached by drop and by paste, taken off again, and go along", async () => {
  const page = await openSession(deck, await deck.server.session());
  await give(page, "drop", [{ name: "notes <b>.txt", type: "text/plain", size: 2048 }]);
  await give(page, "paste", [{ name: "shot.png", type: "image/png", size: 100 }, { name: "extra.log", type: "", size: 3 }]);
  const chips = page.locator(".attachment");
  await waitFor(async () => (await chips.count()) === 3, "three attachments");
  assert.deepEqual(await page.locator(".attachment-name").allTextContents(), ["notes <b>.txt", "shot.png", "extra.log"]);
  assert.deepEqual(await page.locator(".attachment-size").allTextContents(), ["2 KB", "100 bytes", "3 bytes"]);
  await page.getByRole("button", { name: "Remove extra.log" }).click();
  const asked = page.waitForRequest(/\/prompt$/);
  await send(page, "hello with files");
  const { attachments } = (await asked).postDataJSON();
  assert.deepEqual(attachments.map(({ name, mime, data }) => [name, mime, atob(data).length]), [["notes <b>.txt", "text/plain", 2048], ["shot.png", "image/png", 100]]);
  await page.locator(".turn-end").waitFor();
  await waitFor(async () => (await chips.count()) === 0, "no attachments");
});

test("what is too large is not taken, and the page says so and goes on", async () => {
  const page = await openSession(deck, await deck.server.session());
  await give(page, "drop", [{ name: "film.mp4", type: "video/mp4", size: 21 * 1024 * 1024 }]);
  await waitForText(page.locator("#request-problem"), /Not attached: film\.mp4 \(21 MB\).*20 MB/);
  assert.equal(await page.locator(".attachment").count(), 0);
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.setData("text/plain", "x".repeat(2 * 1024 * 1024));
    document.querySelector("#request-textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
  });
  await waitForText(page.locator("#request-problem"), /Not pasted: the text is 2 MB/);
  await page.evaluate(() => {
    document.querySelector("#request-textarea").value = "ü".repeat(600_000);
  });
  await textarea(page).press("Control+Enter");
  await waitForText(page.locator("#request-problem"), /Not sent: the request is 1\.1 MB/);
  await turn(page, "hello");
  assert.ok(await page.locator("#request-problem").isHidden());
});

test("a refusal of the server is said at the request, and the text stays", async () => {
  deck.expectConsoleErrors(/507/);
  const page = await openSession(deck, await deck.server.session());
  await page.route(/\/prompt$/, (route) => route.fulfill({ status: 507, json: { error: "StorageFull", message: "The disk is full; make room and send it again." } }));
  await send(page, "hello");
  await waitForText(page.locator("#request-problem"), /disk is full/);
  assert.equal(await textarea(page).inputValue(), "hello");
  await page.unroute(/\/prompt$/);
  await textarea(page).press("Control+Enter");
  await page.locator(".turn-end").waitFor();
});

const LOST = /ERR_|Failed to load/;
const UNSURE = /^Your request may not have been sent: The server did not respond\./;

/** Lets the server take the next request, and its reply get lost. */
function loseReply(page, alsoDo = () => {}) {
  const lose = async (route) => {
    await route.fetch();
    await alsoDo();
    await route.abort("connectionreset");
  };
  return page.route(/\/prompt$/, lose, { times: 1 });
}

/** A page that does not learn what happens in its session as long as `cut.off` is true. */
async function openCutOff(id) {
  const cut = { off: true };
  const context = await deck.openContext();
  await context.route(/\/live\//, (route) => (cut.off ? undefined : route.continue()));
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  return { page, cut };
}

const turnIsOver = (id) => waitFor(async () => (await deck.server.log(id)).some(({ response }) => response.callback === "onIdle"), "the end of the turn");

test("a request whose reply is lost leaves the box when its prompt is in the transcript, and the same text is then a new prompt", async () => {
  deck.expectConsoleErrors(LOST);
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await loseReply(page);
  await send(page, "hello once");
  await taken(page);
  await page.locator(".turn-end").waitFor();
  await page.locator("#request-problem").waitFor({ state: "hidden" });
  await page.reload();
  await shown(page);
  assert.equal(await textarea(page).inputValue(), "", "the draft is gone too");
  assert.equal((await prompts(id)).length, 1);
  await turn(page, "hello once");
  assert.equal((await prompts(id)).length, 2);
});

test("so does one that the server took before it was killed", async () => {
  deck.expectConsoleErrors(LOST);
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await loseReply(page, () => deck.server.kill());
  await send(page, "hello before the crash");
  await waitForText(page.locator('[data-banner="connection"]'), /did not respond/);
  await deck.server.startAgain();
  await reconnect(page);
  await taken(page);
  await page.locator("#request-problem").waitFor({ state: "hidden" });
  await page.reload();
  await blocks(page, "User").waitFor();
  assert.equal(await textarea(page).inputValue(), "");
  assert.equal((await prompts(id)).length, 1);
});

test("a request whose reply is lost is not sent twice, also after a reload that does not show its prompt", async () => {
  deck.expectConsoleErrors(LOST);
  const id = await deck.server.session();
  const { page } = await openCutOff(id);
  await page.route(/\/log\?/, (route) => route.fulfill({ json: { events: [] } }));
  await loseReply(page);
  await send(page, "hello twice");
  await waitForText(page.locator("#request-problem"), UNSURE);
  await turnIsOver(id);
  await page.reload();
  await shown(page);
  await page.locator(".session-empty").waitFor();
  assert.equal(await textarea(page).inputValue(), "hello twice");
  await textarea(page).press("Control+Enter");
  await taken(page);
  assert.equal((await prompts(id)).length, 1);
});

test("a request whose reply is lost leaves the box after a reload, however much its turn has written", async () => {
  deck.expectConsoleErrors(LOST);
  const id = await deck.server.session();
  const { page, cut } = await openCutOff(id);
  await loseReply(page);
  await send(page, "blocks 100");
  await waitForText(page.locator("#request-problem"), UNSURE);
  await turnIsOver(id);
  cut.off = false;
  await page.reload();
  await shown(page);
  await taken(page);
  assert.ok(await page.locator("#request-problem").isHidden());
  assert.equal((await prompts(id)).length, 1);
});

test("a text that was changed after a lost reply is another prompt, and stays when the first one appears", async () => {
  deck.expectConsoleErrors(LOST);
  const id = await deck.server.session();
  const { page, cut } = await openCutOff(id);
  await loseReply(page);
  await send(page, "hello");
  await waitForText(page.locator("#request-problem"), UNSURE);
  await textarea(page).fill("something else");
  await turnIsOver(id);
  cut.off = false;
  await page.reload();
  await blocks(page, "User").waitFor();
  assert.equal(await textarea(page).inputValue(), "something else");
  await turn(page, "hello");
  assert.equal((await prompts(id)).length, 2);
});

test("a prompt of very many lines is brought back and edited at once", async () => {
  const long = "a line of a long log\n".repeat(20_000).trim();
  const id = await deck.server.session();
  await deck.server.turn(id, long);
  const page = await openSession(deck, id);
  const box = page.locator("#request-textarea");
  await blocks(page, "User").first().waitFor();
  await box.fill("mine");
  await box.press("Home");
  await box.press("ArrowUp");
  assert.equal((await box.inputValue()).length, long.length);
  await page.evaluate(() => document.querySelector("#request-textarea").setSelectionRange(0, 0));
  await box.press("Control+End");
  await box.press("ArrowDown");
  assert.equal(await box.inputValue(), "mine");
  await blocks(page, "User").first().focus();
  await page.keyboard.press("e");
  await waitFor(async () => (await box.inputValue()).startsWith("a line"), "the prompt in the box");
  assert.equal(await box.inputValue(), `${long}\n\nmine`, "what was there cannot be undone, so it stays");
});
