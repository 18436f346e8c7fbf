// A request that outlives its turn: it can be answered as before, and the page says what a new prompt would do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, LogStub, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const NOTICE = "The agent stopped while it waited for your answer. Your answer starts a new turn.";
const turn = [{ callback: "onUserPrompt", promptId: "prompt-2", text: "deploy", queued: false }, { callback: "onAgentStart", turnId: "turn-2" }];
const asked = (requestId) => ({ callback: "onPermissionRequested", requestId, kind: "shell", title: "Run a command", detail: "make deploy", options: ["allow-once", "allow-always", "deny"] });
const cut = [
  { callback: "onNotice", kind: "interrupted", message: "The turn was interrupted because the server stopped." },
  { callback: "onAgentEnd", turnId: "turn-2" },
  { callback: "onIdle" },
  { callback: "onNotice", kind: "request-kept", message: NOTICE, detail: "exit status 137" },
];

/** A session whose turn has asked; its request is named after its event, as the server does. */
async function open({ more = [] } = {}) {
  const id = await deck.server.session({ title: "Deploy" });
  await deck.server.turn(id, "hello");
  const context = await deck.openContext();
  const log = await LogStub.use({ deck, context, id, responses: turn });
  const requestId = `request-${log.events.at(-1).seq + 1}`;
  log.add(asked(requestId), ...more);
  log.setDetails({ state: "waiting", pending: 1, requests: [{ requestId }] });
  // What the server really says about its sessions would contradict the log.
  await context.route(/\/api\/events$/, () => {});
  const sent = [];
  await context.route(/\/permission\//, (route) => {
    sent.push([new URL(route.request().url()).pathname.split("/").at(-1), route.request().postDataJSON().decision]);
    return route.fulfill({ status: 204 });
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await page.locator(".request-block.waiting").waitFor();
  return { page, log, requestId, sent };
}

async function assertKept(page) {
  await waitForText(page.locator("#request-note"), "The agent is waiting for your answer. Sending a new prompt cancels its request.");
  assert.equal(await page.locator("#session-state").textContent(), "Needs your input");
  await waitForText(page.locator('.session-notice[data-kind="request-kept"] .session-notice-text'), NOTICE);
  assert.ok(await page.locator("#send-button").isEnabled());
  assert.equal(await page.locator(".request-block.waiting").count(), 1);
  assert.equal(await page.locator(".ask-again:visible").count(), 0, "nothing is lost");
}

test("the card stays when its turn is cut off, and takes the answer", async () => {
  const { page, log, requestId, sent } = await open();
  assert.ok(await page.locator("#request-note").isHidden(), "the turn runs");
  log.add(...cut);
  await assertKept(page);
  await choose(page, 1);
  await waitFor(() => sent.length, "the answer");
  assert.deepEqual(sent, [[requestId, "allow-once"]]);
  log.add({ callback: "onPermissionAnswered", requestId, decision: "allow-once", by: "page" }, { callback: "onGeneratedUserPrompt", prompt: "The person allowed it." }, { callback: "onAgentStart", turnId: "turn-3" });
  await waitForText(page.locator(".request-verdict"), "Allowed once");
  await page.locator("#request-note").waitFor({ state: "hidden" });
  await waitForText(page.locator("#session-state"), "Working");
  log.add({ sessionError: "no quota", errorClass: "quota" }, { callback: "onAgentEnd", turnId: "turn-3" }, { callback: "onIdle" });
  await page.locator(".session-error .ask-again:visible").waitFor();
  assert.equal(await page.locator(".ask-again:visible").count(), 1, "the turn that was continued has none");
});

test("it is there after a reload, with its age, however much came after it", async () => {
  const { page, log } = await open({ more: cut });
  await assertKept(page);
  const notices = Array.from({ length: 500 }, (_, number) => ({ callback: "onNotice", kind: "info", message: `later ${number}` }));
  log.add(...notices);
  for (const event of log.events) event.time = new Date(Date.now() - 2 * 3_600_000).toISOString();
  await page.reload();
  await shown(page);
  await page.locator(".request-block.waiting").waitFor({ state: "attached" });
  await waitForText(page.locator(".request-age"), "asked 2 h ago");
  await assertKept(page);
  await page.keyboard.press("Alt+a");
  await page.locator(".request-block.takes-keys").waitFor();
});

test("of several open requests, Alt+A goes to the oldest and then to the next", async () => {
  const { page, log } = await open();
  log.add(asked("request-second"), ...cut);
  await waitForText(page.locator("#request-note"), "The agent is waiting for 2 answers. Sending a new prompt cancels its requests.");
  const current = () => page.evaluate(() => [...document.querySelectorAll(".request-block")].indexOf(document.activeElement));
  const places = [];
  for (let press = 0; press < 3; press += 1) {
    await page.keyboard.press("Alt+a");
    places.push(await current());
  }
  assert.deepEqual(places, [0, 1, 0]);
});

test("a new prompt withdraws it, and the card says so", async () => {
  const { page, log, requestId } = await open({ more: cut });
  log.add({ callback: "onPermissionAnswered", requestId, decision: "cancelled", by: "prompt" }, { callback: "onUserPrompt", promptId: "prompt-3", text: "never mind", queued: false });
  await waitForText(page.locator(".request-verdict"), "Cancelled");
  await waitForText(page.locator(".request-by"), "because a new prompt was sent");
  await page.locator("#request-note").waitFor({ state: "hidden" });
});

test("a request that is lost after all offers its turn's prompt", async () => {
  const { page, log, requestId } = await open({ more: cut });
  log.add({ callback: "onPermissionAnswered", requestId, decision: "agent-gone", by: "restart" });
  await page.getByRole("button", { name: "Ask again" }).waitFor();
});
