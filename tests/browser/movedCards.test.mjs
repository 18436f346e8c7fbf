// Cards that the page moves: what is pressed is what was aimed at, and is seen before it is allowed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStub, shown, turn, useDeck, waitFor } from "./support/index.mjs";

const deck = useDeck();

const asks = (number, detail) => ({ callback: "onPermissionRequested", requestId: `request-${number}`, kind: "shell", title: "Run a command", detail, options: ["allow-once", "allow-always", "deny"] });
const lines = (count) => Array.from({ length: count }, (_, index) => `echo ${index}`).join("\n");
const free = (page) => page.locator(".request-block.waiting:not(:has([aria-disabled]))");

/** A session that asks for something as soon as a test adds it. */
async function asking(context = {}) {
  const id = await deck.server.session();
  await deck.server.turn(id, "blocks 40");
  const opened = await deck.openContext(context);
  const log = await LogStub.use({ deck, context: opened, id });
  const page = await opened.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  log.add({ callback: "onUserPrompt", promptId: "prompt-2", text: "go", queued: false }, { callback: "onAgentStart", turnId: "turn-2" });
  return { page, log };
}

const notedPlaces = (page) =>
  page.evaluate(() => {
    window.held = [];
    const note = (changes) => changes.filter(({ target, oldValue }) => oldValue === null && target.getAttribute("aria-disabled") === "true").forEach(({ target }) => window.held.push(target.closest(".request-block").dataset.requestId));
    for (const card of document.querySelectorAll(".request-block")) new MutationObserver(note).observe(card, { subtree: true, attributeFilter: ["aria-disabled"], attributeOldValue: true });
  });

test("a card that another one pushes up takes no approval for a moment, and one that stays takes it", async () => {
  const { page, log } = await asking();
  log.add(asks(1, "echo one"), asks(2, "echo two"));
  await free(page).nth(1).waitFor();
  await notedPlaces(page);
  log.add(asks(3, "echo three"));
  await page.locator(".request-block").nth(2).waitFor();
  await waitFor(() => page.evaluate(() => new Set(window.held).size === 2), "both cards are held");
  await free(page).nth(2).waitFor();

  // Who reads elsewhere is not moved, and nothing is held.
  await page.locator("#session-part").evaluate((part) => (part.scrollTop -= 60));
  await page.locator("#to-end-button").waitFor();
  await notedPlaces(page);
  log.add(asks(4, "echo four"));
  await page.locator(".request-block").nth(3).waitFor();
  await free(page).nth(3).waitFor();
  assert.deepEqual(await page.evaluate(() => window.held), []);
});

test("a press that hits a card which has moved in the same moment approves nothing", async () => {
  const { page, log } = await asking();
  const answers = [];
  await page.route(/\/permission\//, (route) => {
    answers.push(route.request().url());
    return route.fulfill({ json: {} });
  });
  log.add(asks(1, "echo one"));
  await free(page).waitFor();
  await page.evaluate(() => {
    const card = document.querySelector(".request-block");
    card.style.marginTop = "40px";
    card.querySelector(".decision-allow-once").dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
  });
  await free(page).waitFor();
  assert.deepEqual(answers, []);
  await free(page).locator(".decision-allow-once").click();
  await waitFor(() => answers.length === 1, "the answer");
});

test("the form of a question is not sent before it could be read", async () => {
  const page = await deck.openPage("/test.html");
  const held = await page.evaluate(async () => {
    const { QuestionBlock } = await import("/session/requests.js");
    window.sent = [];
    const form = { type: "object", properties: { deploy: { type: "boolean", default: true } } };
    const block = new QuestionBlock({ requestId: "r", question: "Deploy?", form }, { folder: null, answer: async (id, body) => window.sent.push(body) });
    document.body.replaceChildren(block.divElement);
    const button = block.divElement.querySelector("button[type=submit]");
    while (!block.divElement.querySelector("input")) await new Promise(requestAnimationFrame);
    button.click();
    return button.getAttribute("aria-disabled");
  });
  assert.equal(held, "true");
  assert.deepEqual(await page.evaluate(() => window.sent), []);
  await page.getByRole("button", { name: "Answer" }).click();
  await waitFor(() => page.evaluate(() => window.sent.length === 1), "the answer");
});

test("a card that does not fit is shown from its beginning, and the end is followed once it is answered", async () => {
  const { page, log } = await asking({ viewport: { width: 320, height: 560 }, hasTouch: true, isMobile: true });
  log.add(asks(1, lines(40)));
  const card = page.locator(".request-block");
  await card.waitFor();
  const top = () => card.evaluate((element) => element.getBoundingClientRect().top - document.querySelector("#session-part").getBoundingClientRect().top);
  await waitFor(async () => (await top()) >= 0, "its beginning");
  const fits = () => card.evaluate((element) => element.offsetHeight <= document.querySelector("#session-part").clientHeight);
  assert.equal(await fits(), false, "the card of this test is too high");
  log.add({ callback: "onPermissionAnswered", requestId: "request-1", decision: "allow-once", by: "api" });
  await waitFor(() => page.locator("#session-part").evaluate((part) => part.scrollHeight - part.scrollTop - part.clientHeight < 2), "the end");
});

test("what is opened at the end stays where it was pressed", async () => {
  const id = await deck.server.session();
  const page = await (await deck.openContext()).newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await turn(page, "tool 40000");
  const block = page.locator('.message-block[data-type="Tool"].collapsed').last();
  const header = block.locator(".message-block-header");
  await header.waitFor();
  const before = (await header.boundingBox()).y;
  await header.click();
  const opened = page.locator('.message-block[data-type="Tool"]:not(.collapsed)').last();
  await opened.locator(".message-block-content").waitFor();
  await waitFor(() => page.locator("#session-part").evaluate((part) => part.scrollHeight > part.clientHeight + 500), "its content");
  assert.ok(Math.abs((await opened.locator(".message-block-header").boundingBox()).y - before) <= 1);
  // Closed again, the end is in view and followed.
  await opened.locator(".message-block-header").click();
  await turn(page, "hello");
  await waitFor(() => page.locator("#session-part").evaluate((part) => part.scrollHeight - part.scrollTop - part.clientHeight < 2), "the end");
});
