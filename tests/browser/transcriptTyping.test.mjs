// What is typed with the focus in the transcript is meant for the request, unless it is a shortcut; it never answers anything.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, openSession, openSetup, send, turn, useDeck, waitFor, watchCalls } from "./support/index.mjs";

const deck = useDeck();

const textarea = (page) => page.locator("#request-textarea");
const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.className);

async function sessionPage() {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "hello");
  return { id, page };
}

test("text typed in the transcript, in a block or nowhere arrives in the request box, whole and behind what is there", async () => {
  const { page } = await sessionPage();
  const places = {
    "the transcript": () => page.locator("#session-part").focus(),
    "a block": () => page.locator('[data-type="Message"] .message-block-body').click(),
    "nothing at all": () => page.evaluate(() => document.activeElement.blur()),
  };
  await textarea(page).fill("Draft. ");
  let expected = "Draft. ";
  for (const [place, goThere] of Object.entries(places)) {
    await goThere();
    await page.keyboard.type("What about 1 or 2?");
    expected += "What about 1 or 2?";
    assert.equal(await textarea(page).inputValue(), expected, place);
    assert.equal(await focused(page), "request-textarea", place);
  }
});

test("Home in the transcript goes to its beginning, however far back it is", async () => {
  const id = await deck.server.session();
  for (let turns = 0; turns < 8; turns += 1) await deck.server.turn(id, "markdown");
  const page = await openSession(deck, id);
  await page.locator("#session-part").focus();
  await page.keyboard.press("Home");
  const isAtBeginning = (part) => part.scrollTop === 0 && part.querySelector(".message-block").dataset.seq === "1";
  await waitFor(() => page.locator("#session-part").evaluate(isAtBeginning), "the beginning");
});

test("what is typed on the page for a new session is its prompt, except what searches", async () => {
  const page = await openSetup(deck, "/", { viewport: { width: 1440, height: 900 } });
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.type("fix the tests");
  assert.equal(await page.locator("#prompt-box").inputValue(), "fix the tests");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("/");
  assert.equal(await focused(page), "session-search");
  await page.locator(".sidebar-new:visible").focus();
  await page.keyboard.type(" and");
  assert.equal(await page.locator("#prompt-box").inputValue(), "fix the testsand", "Space is a key of the link");
});

test("a digit is text outside a request", async () => {
  const { page } = await sessionPage();
  await page.locator("#session-part").focus();
  await page.keyboard.type("3 times");
  assert.equal(await textarea(page).inputValue(), "3 times");
});

test("shortcuts, Space and keys with Ctrl or Alt keep their meaning", async () => {
  const { page } = await sessionPage();
  await blocks(page, "User").first().focus();
  for (const key of ["j", "k", "o", "o", "r", "r", "c", " ", "Control+x", "Alt+q", "Home", "F2"]) await page.keyboard.press(key);
  await page.keyboard.press("?");
  await page.locator("#side-panel", { hasText: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await blocks(page, "Message").first().focus();
  await page.keyboard.press("e");
  assert.equal(await textarea(page).inputValue(), "");
  assert.notEqual(await focused(page), "request-textarea");
});

test("in a request a digit is neither text nor, without Alt+A, an answer; a letter goes to the request box and answers nothing", async () => {
  const { page } = await sessionPage();
  await send(page, "permission");
  await page.locator(".request-choice.decision-allow-once:not([aria-disabled])").waitFor();
  const calls = watchCalls(page, /\/permission\//);
  const card = page.locator(".request-block.waiting");
  await waitFor(async () => (await textarea(page).inputValue()) === "", "the request to be taken");
  for (const part of [".request-title", ".request-detail"]) {
    await card.locator(part).click();
    await page.keyboard.press("1");
    assert.equal(await textarea(page).inputValue(), "");
    assert.notEqual(await focused(page), "request-textarea");
    await page.keyboard.type("No, 1 file: 2");
    await page.keyboard.press("Enter");
    assert.equal(await textarea(page).inputValue(), "No, 1 file: 2\n");
    await textarea(page).fill("");
  }
  await card.locator(".decision-allow-once").focus();
  await page.keyboard.type("wait 1");
  await page.keyboard.press("Enter");
  assert.equal(await textarea(page).inputValue(), "wait 1\n");
  await page.keyboard.press("Alt+a");
  await page.keyboard.type("x1");
  assert.equal(await textarea(page).inputValue(), "wait 1\nx1");
  assert.deepEqual(calls.all, []);
  assert.equal(await card.count(), 1);
});

test("what is typed into the note of a denial stays there", async () => {
  const { page } = await sessionPage();
  await send(page, "permission");
  await page.locator(".request-feedback").fill("");
  await page.keyboard.type("use 2");
  assert.equal(await page.locator(".request-feedback").inputValue(), "use 2");
});
