// Nobody approves by accident: typing, Enter, a second click.

import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, openSession, send, turn, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const deck = useDeck();

const card = (page) => page.locator(".request-block").last();
const verdict = (page) => card(page).locator(".request-verdict");
const focused = (page) => page.evaluate(() => document.activeElement.className || document.activeElement.id || document.activeElement.tagName);

async function permissionPage() {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "hello");
  await send(page, "permission");
  await page.locator(".request-choice.decision-allow-once:not([aria-disabled])").waitFor();
  return { id, page, calls: watchCalls(page, /\/permission\//) };
}

const decisions = async (id) => (await deck.server.log(id)).filter(({ response }) => response.callback === "onPermissionAnswered").map(({ response }) => response.decision);

test("what is typed anywhere on the page approves nothing, with Alt neither", async () => {
  const { id, page, calls } = await permissionPage();
  const places = {
    "the request box": () => page.locator("#request-textarea").focus(),
    "the transcript": () => page.locator("#session-part").focus(),
    "text of an answer": () => page.locator('[data-type="Message"] .message-block-body').click(),
    "the command in the card": () => card(page).locator(".request-detail").click(),
    "the title of the card": () => card(page).locator(".request-title").click(),
    "the card, reached with the next block": async () => {
      await page.locator("#session-part").focus();
      for (let step = 0; step < 6; step += 1) await page.keyboard.press("j");
      assert.match(await focused(page), /request-block/);
    },
    "nothing at all": () => page.evaluate(() => document.activeElement.blur()),
  };
  for (const [place, goThere] of Object.entries(places)) {
    await goThere();
    await page.keyboard.type("1 more thing: do 2 or 3");
    for (const key of ["Alt+1", "Alt+2", "Enter", "Control+1"]) await page.keyboard.press(key);
    assert.deepEqual(calls.all, [], place);
  }
  await choose(page, 3);
  await waitForText(verdict(page), "Denied");
  assert.deepEqual(await decisions(id), ["deny"]);
});

test("Alt+A goes to the card, which then says its keys, and a digit answers", async () => {
  const { id, page } = await permissionPage();
  assert.equal(await focused(page), "request-textarea", "nobody took the focus away");
  assert.ok(await page.locator(".request-choice kbd").first().isHidden());
  await page.keyboard.press("Alt+a");
  assert.match(await focused(page), /request-block.*takes-keys/, "the card itself, and no button, has the focus");
  assert.ok(await page.locator(".request-choice kbd").first().isVisible());
  await waitForText(card(page).locator(".request-keys"), "Press 1 to 3 to choose.");
  await page.keyboard.press("2");
  await waitForText(verdict(page), "Always allowed");
  assert.deepEqual(await decisions(id), ["allow-always"]);
});

test("a letter after Alt+A, a click or another place ends the keys of the card", async () => {
  const { id, page, calls } = await permissionPage();
  const leave = [() => page.keyboard.press("x"), () => card(page).locator(".request-title").click(), () => page.keyboard.press("Tab"), () => page.keyboard.press("Alt+t")];
  for (const away of leave) {
    await page.keyboard.press("Alt+a");
    await away();
    await page.keyboard.press("1");
    assert.equal(await page.locator(".takes-keys").count(), 0);
  }
  assert.deepEqual(calls.all, []);
  await choose(page, 3);
  await waitForText(verdict(page), "Denied");
  assert.deepEqual(await decisions(id), ["deny"]);
});

test("Enter never allows, on no button, and says how to", async () => {
  const { id, page, calls } = await permissionPage();
  await page.keyboard.press("Alt+a");
  await page.keyboard.press("Enter");
  for (const name of ["Allow once", "Always allow"]) {
    await page.getByRole("button", { name }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Control+Enter");
    await waitForText(card(page).locator(".request-problem"), /Enter does not choose this/);
  }
  assert.deepEqual(calls.all, []);
  await page.getByRole("button", { name: "Allow once" }).focus();
  await page.keyboard.press("Space");
  await waitForText(verdict(page), "Allowed once");
  assert.deepEqual(await decisions(id), ["allow-once"]);
});

/** Two open requests in a renderer whose answers are collected, with a clock that only the test moves. */
async function twoRequests() {
  const page = await deck.openPage("/test.html");
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(60_000);
  await page.evaluate(async () => {
    const { SessionResponseRenderer } = await import("/sessionResponse.js");
    const part = document.createElement("div");
    document.body.replaceChildren(part);
    window.sent = [];
    const answer = async (requestId, { json }) => {
      window.sent.push(`${requestId} ${json.decision}`);
      window.renderer.processCallback({ callback: "onPermissionAnswered", requestId, decision: json.decision, by: "page" }, { seq: 9 });
    };
    window.renderer = new SessionResponseRenderer(part, { requestActions: { folder: "/w", answer } });
    for (const [seq, requestId] of [[1, "one"], [2, "two"]]) {
      window.renderer.processCallback({ callback: "onPermissionRequested", requestId, kind: "shell", title: requestId, detail: "ls", options: ["allow-once", "deny"] }, { seq });
    }
    window.press = (selector) => [...document.querySelectorAll(`.waiting ${selector}`)][0].click();
  });
  const sent = () => page.evaluate(() => window.sent);
  return { page, sent };
}

test("a request that has just come, or just moved, takes no answer yet", async () => {
  const { page, sent } = await twoRequests();
  await page.evaluate(() => window.press(".decision-allow-once"));
  assert.deepEqual(await sent(), [], "it has just come");
  await page.clock.runFor(400);
  await page.evaluate(() => {
    window.press(".decision-allow-once");
    window.press(".decision-allow-once");
  });
  assert.deepEqual(await sent(), ["one allow-once"], "the second click hit what moved up");
  await page.clock.runFor(400);
  await page.evaluate(() => window.press(".decision-allow-once"));
  assert.deepEqual(await sent(), ["one allow-once", "two allow-once"]);
});

test("a refusal is taken at once", async () => {
  const { page, sent } = await twoRequests();
  await page.evaluate(() => window.press(".decision-deny"));
  assert.deepEqual(await sent(), ["one deny"]);
});

test("a rule that answers other open requests leaves none of them on the page", async () => {
  const { page } = await twoRequests();
  await page.evaluate(() => {
    window.renderer.processCallback({ callback: "onPermissionAnswered", requestId: "one", decision: "allow-always", by: "page" }, { seq: 3 });
    window.renderer.processCallback({ callback: "onPermissionAnswered", requestId: "two", decision: "allow-once", by: "rule" }, { seq: 4 });
  });
  assert.equal(await page.locator(".waiting").count(), 0);
  assert.equal(await page.evaluate(() => window.renderer.openRequests.length), 0);
  assert.match(await page.locator(".request-block").last().textContent(), /Allowed once.*ls.*by a rule/);
});

test("what a rule allows at once is neither a card nor a line, and holds up no other card", async () => {
  const { page, sent } = await twoRequests();
  await page.clock.runFor(400);
  const seen = await page.evaluate(() => {
    const feed = (seq, requestId, decision, by) => {
      window.renderer.processCallback({ callback: "onPermissionRequested", requestId, kind: "read", title: requestId, detail: "x", options: ["deny"] }, { seq });
      window.renderer.processCallback({ callback: "onPermissionAnswered", requestId, decision, by }, { seq: seq + 1 });
    };
    feed(10, "by rule", "allow-once", "rule");
    feed(12, "by mode", "allow-once", "mode");
    feed(14, "by grant", "allow-once", "grant");
    feed(16, "denied", "deny", "rule");
    window.press(".decision-allow-once");
    return [...document.querySelectorAll(".request-block.answered")].filter((block) => !block.hidden).map((block) => block.dataset.requestId);
  });
  assert.deepEqual(seen, ["one", "by grant", "denied"]);
  assert.deepEqual(await sent(), ["one allow-once"]);
});

test("the keys of a card that was answered elsewhere answer nothing", async () => {
  const { id, page } = await permissionPage();
  await page.keyboard.press("Alt+a");
  const { requestId } = (await deck.server.log(id)).findLast(({ response }) => response.callback === "onPermissionRequested").response;
  await deck.server.call("POST", `copilot/session/${id}/permission/${requestId}`, { decision: "deny" });
  await waitForText(verdict(page), "Denied");
  await page.keyboard.press("1");
  await waitFor(() => page.locator("#send-button").isEnabled(), "the end of the turn");
  assert.deepEqual(await decisions(id), ["deny"]);
});
