// Following a session: one call at a time, over lost connections, reloads and second tabs.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { blocks, checkAccessibility, openSession, reconnect, send, shown, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

/** What the first message is made of. */
const shownText = (page) =>
  page.evaluate(async () => {
    const { getMessageBlock } = await import("/messageBlock.js");
    return getMessageBlock(document.querySelector('.message-block[data-type="Message"]')).data;
  });

const headers = (page) => page.locator(".message-block-header-text").allTextContents();

test("there is one live call at a time, and a timeout just asks again", async () => {
  const id = await deck.server.session();
  const context = await deck.openContext();
  const page = await context.newPage();
  // Counted where the calls are made: from outside, the end of one is seen later than the beginning of the next.
  await page.addInitScript(() => {
    window.live = { all: 0, underWay: 0, most: 0 };
    const { fetch } = window;
    window.fetch = async (path, ...rest) => {
      if (!/\/live\//.test(path)) return fetch(path, ...rest);
      window.live.all += 1;
      window.live.underWay += 1;
      window.live.most = Math.max(window.live.most, window.live.underWay);
      try {
        return await fetch(path, ...rest);
      } finally {
        window.live.underWay -= 1;
      }
    };
  });
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator(".session-empty").waitFor();
  // The server answers an idle call with a timeout after a while.
  await page.waitForFunction(() => window.live.all >= 2);
  await turn(page, "many 200 0 20");
  assert.equal(await page.evaluate(() => window.live.most), 1, "never two at once");
  assert.equal(await page.locator("#banners > *").count(), 0, "a timeout is no trouble");
});

test("a reload and a second tab show everything, and the address names the session", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "reason");
  await turn(page, "tool");
  const first = await headers(page);
  assert.deepEqual(first, ["User", "Reasoning", "Message", "User", "Tool (shell)", "Message"]);
  await page.reload();
  await waitFor(async () => (await headers(page)).length === first.length, "the history");
  assert.deepEqual(await headers(page), first);
  const second = await page.context().newPage();
  await second.goto(page.url());
  await waitFor(async () => (await headers(second)).length === first.length, "the history in the second tab");
  await turn(second, "hello");
  await waitFor(async () => (await headers(page)).length === first.length + 2, "the second tab's turn in the first");
});

test("what is running when a page comes is shown as running, and ends as one block", async () => {
  const id = await deck.server.session();
  // More than half an hour: it runs until it is interrupted, however slow this machine is.
  await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "many 400000 200 5" });
  // The beginning is not on the first page of the past that the page asks for, and not on the second.
  await waitFor(async () => (await deck.server.log(id)).length > 600, "many pieces");
  const page = await openSession(deck, id);
  const header = blocks(page, "Message").locator(".message-block-header-text");
  await waitForText(header, "Message [receiving...]");
  assert.ok(await page.locator("#send-button").isDisabled());
  await page.locator(".history-top", { hasText: "Start of the session" }).waitFor({ state: "attached" });
  const pieces = await shownText(page);
  await waitFor(async () => (await shownText(page)).length > pieces.length, "more of it");
  await deck.server.call("POST", `copilot/session/${id}/interrupt`);
  await waitForText(header, "Message");
  assert.equal(await blocks(page, "Message").count(), 1);
  const end = (await deck.server.log(id)).find(({ response }) => response.callback === "onEndMessage");
  assert.equal(pieces, end.response.completeContent.slice(0, pieces.length), "nothing twice, nothing left out, all in order");
  assert.equal(await shownText(page), end.response.completeContent);
});

test("the pieces put together are what the log says, at full speed too", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "many 5000 0 30");
  await blocks(page, "Message").locator(".message-block-raw").click();
  const shown = await shownText(page);
  const end = (await deck.server.log(id)).find(({ response }) => response.callback === "onEndMessage");
  assert.equal(shown, end.response.completeContent);
});

test("a server that is killed is missed, said so, and followed again from where it was", async () => {
  deck.expectConsoleErrors(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|Failed to load resource/);
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "hello");
  await deck.server.kill();
  await waitForText(page.locator('[data-banner="connection"]'), /did not respond.*Nothing is lost/);
  await send(page, "are you there?");
  await waitForText(page.locator("#request-problem"), /may not have been sent.*text is kept/);
  assert.equal(await page.locator("#request-textarea").inputValue(), "are you there?");
  await deck.server.startAgain();
  await reconnect(page);
  await page.locator("#request-textarea").press("Control+Enter");
  await waitFor(async () => (await page.locator(".turn-end").count()) === 2, "the turn after the restart");
  assert.deepEqual(await headers(page), ["User", "Message", "User", "Message"]);
});

test("an answer that breaks off is read again, nothing twice and nothing lost", async () => {
  deck.expectConsoleErrors(/ERR_FAILED|Failed to load resource/);
  const id = await deck.server.session();
  const context = await deck.openContext();
  let broken = 0;
  await context.route(/\/live\//, async (route) => {
    const answer = await route.fetch();
    const text = await answer.text();
    // The server has let go of these, and the page never gets them.
    if (text.includes("onStartMessage") && broken < 2) {
      broken += 1;
      await route.abort("failed");
    } else await route.fulfill({ response: answer, body: text });
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator(".session-empty").waitFor();
  await turn(page, "reason");
  await turn(page, "hello");
  assert.equal(broken, 2);
  assert.deepEqual(await headers(page), ["User", "Reasoning", "Message", "User", "Message"]);
  const texts = await blocks(page, "Message").locator(".message-block-body").allTextContents();
  assert.match(texts[0], /answer is 42/);
  assert.match(texts[1], /Hello from the demo/);
  await context.unrouteAll({ behavior: "ignoreErrors" });
});

test("a token that the server forgot is replaced", async () => {
  const id = await deck.server.session();
  const context = await deck.openContext();
  let forgotten = 0;
  await context.route(/\/live\//, async (route) => {
    forgotten += 1;
    if (forgotten === 2) await route.fulfill({ json: { error: "SessionNotFound" } });
    else await route.continue();
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator(".session-empty").waitFor();
  await turn(page, "hello");
  await waitFor(() => forgotten >= 2, "the forgotten token");
  await turn(page, "reason");
  assert.deepEqual(await headers(page), ["User", "Message", "User", "Reasoning", "Message"]);
});

test("a login that ended is said, with the way back", async () => {
  deck.expectConsoleErrors(/401/);
  const id = await deck.server.session();
  const context = await deck.openContext();
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator(".session-empty").waitFor();
  await context.clearCookies();
  await waitForText(page.locator('[data-banner="connection"]'), /no longer logged in/);
  assert.match(await page.locator('[data-banner="connection"] a').getAttribute("href"), new RegExp(`^/login\\?next=.*${id}`));
});

test("a session that is deleted elsewhere says so, and one that never was too", async () => {
  deck.expectConsoleErrors(/404/);
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "hello");
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await waitForText(page.locator("#closed-part p"), /deleted/);
  assert.ok(await page.locator("#request-part").isHidden());
  await waitForText(blocks(page, "Message"), /Hello/);
  const other = await deck.openPage("/?session=session-999");
  await waitForText(other.locator("#finished-ui"), /session-999 not found/);
  await other.locator("#finished-ui a").click();
  await other.locator("#setup-ui").waitFor();
});

/** A session that asks for a permission and can be answered. */
async function asking() {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await send(page, "permission");
  await page.locator(".request-block.waiting .request-choice:not([aria-disabled])").first().waitFor();
  return { id, page, card: page.locator("#session-part .request-block") };
}

test("a request of a session that is deleted elsewhere stays to be read, and takes no answer", async () => {
  deck.expectConsoleErrors(/404/);
  const { id, page, card } = await asking();
  await waitForText(page.locator(".session-response-awaiting"), "Waiting for you");
  await card.locator(".request-feedback").fill("Use printf.");
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await waitForText(page.locator("#closed-part p"), /This session was deleted/);
  assert.equal(await card.locator("button:enabled, input:enabled, select:enabled").count(), 0);
  assert.equal(await card.locator(".request-feedback").inputValue(), "Use printf.");
  await waitForText(card.locator(".request-detail"), "echo 'a demo: nothing is run'");
  assert.ok(await page.locator(".session-response-awaiting").isHidden());
  await waitForText(page.locator("#session-state .state-word"), "Closed");
  assert.equal(await page.locator(".request-block.waiting, .request-keys").count(), 0);
  await page.keyboard.press("Alt+a");
  assert.equal(await page.locator(".takes-keys").count(), 0, "there is nothing to answer");
  await checkAccessibility(page, "a deleted session with a request");
});

test("an answer under way when the session is deleted ends the card, whichever the page learns first", async () => {
  for (const order of ["refused first", "deleted first"]) {
    deck.expectConsoleErrors(/404/);
    const { id, page, card } = await asking();
    await page.route(/\/permission\//, async (route) => {
      await deck.server.api("DELETE", `copilot/session/${id}`);
      if (order === "deleted first") await page.locator("#closed-part:not([hidden])").waitFor();
      await route.continue();
    });
    const refused = page.waitForResponse(/\/permission\//);
    await card.getByRole("button", { name: "Allow once" }).click();
    assert.equal((await refused).status(), 404);
    await waitForText(page.locator("#closed-part p"), /This session was deleted/);
    await waitFor(async () => (await card.locator("button:enabled, input:enabled, select:enabled").count()) === 0, "the end of the card");
    assert.match(await card.locator(".request-problem").textContent(), /^(This session was deleted\.)?$/, order);
    await page.close();
  }
});

test("the unsent text of a session that is deleted elsewhere can be copied, written on and used for a new session", async () => {
  deck.expectConsoleErrors(/404/);
  const id = await deck.server.session();
  const context = await deck.openContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  const text = "A long thought,\n  in two lines.";
  await page.locator("#request-textarea").fill(text);
  await page.locator("#request-textarea").focus();
  await deck.server.api("DELETE", `copilot/session/${id}`);
  const unsent = page.locator("#closed-part").getByLabel("Your unsent text");
  await unsent.waitFor();
  assert.equal(await unsent.inputValue(), text);
  // Who was typing goes on typing.
  await page.keyboard.type(" And more.");
  assert.equal(await unsent.inputValue(), `${text} And more.`);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await waitFor(async () => (await page.evaluate(() => navigator.clipboard.readText())) === `${text} And more.`, "the text on the clipboard");
  // A reload does not lose it either.
  await page.reload();
  await waitForText(page.locator("#finished-ui h2"), /not found/);
  assert.equal(await page.locator("#finished-ui").getByLabel("Your unsent text").inputValue(), `${text} And more.`);

  await page.getByRole("button", { name: "Start a new session with it" }).click();
  await page.locator("#prompt-box").waitFor();
  assert.equal(await page.locator("#prompt-box").inputValue(), `${text} And more.`);
  await page.reload();
  await waitFor(async () => (await page.locator("#prompt-box").inputValue()) === `${text} And more.`, "the prompt of the next session");
});

test("who was typing goes on typing where the page learns that the session is closed before it is deleted", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await page.locator("#request-textarea").fill("Half a ");
  await page.locator("#request-textarea").focus();
  await deck.server.call("POST", `copilot/session/${id}/stop`);
  await page.locator("#reopen-button").waitFor();
  await waitFor(() => page.evaluate(() => document.activeElement === document.body), "the focus to go with the box");
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await page.locator("#closed-part").getByLabel("Your unsent text").waitFor();
  await page.keyboard.type("thought");
  assert.equal(await page.getByLabel("Your unsent text").inputValue(), "Half a thought");
});

test("a new session with unsent text is in the same folder, and keeps what is in the prompt box", async () => {
  deck.expectConsoleErrors(/404/);
  const folder = path.join(deck.server.folder, "its folder");
  mkdirSync(folder, { recursive: true });
  const id = await deck.server.session({ workingDirectory: folder });
  const page = await deck.openPage("/");
  await page.locator("#prompt-box").fill("Begun here.");
  await page.locator(`.session-row[data-session="${id}"] a`).first().click();
  await shown(page);
  await page.locator("#request-textarea").fill("Begun there.");
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await page.getByRole("button", { name: "Start a new session with it" }).click();
  await page.locator("#prompt-box").waitFor();
  assert.equal(await page.locator("#prompt-box").inputValue(), "Begun here.\n\nBegun there.");
  assert.equal(await page.locator("#working-dir").inputValue(), folder);
});
