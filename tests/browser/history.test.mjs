// Long sessions: the last screens first, the rest as the reader goes up, and never more than is needed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, openSession, shown, turn, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const BLOCKS = 10_000;
const deck = useDeck();
let made = null;

/** The id of a session of ten thousand blocks, made when it is first wanted. */
function longSession() {
  made ??= deck.server.session({ title: "Ten thousand blocks" }).then(async (id) => {
    await deck.server.turn(id, `blocks ${BLOCKS}`);
    return id;
  });
  return made;
}

const part = (page) => page.locator("#session-part");
const inDocument = (page) => page.locator(".message-block").count();
const scrollTo = (page, top) => part(page).evaluate((element, top) => element.scrollTo({ top }), top);

/** The tool call in the middle of the view and how far it is from the edge, once all around it is rendered. */
async function reading(page) {
  await part(page).evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    window.visible = (one) => one.getBoundingClientRect().bottom > top && one.getBoundingClientRect().top < bottom;
    window.middle = (top + bottom) / 2;
  });
  await page.waitForFunction(() => ![...document.querySelectorAll('[data-type="Message"] .message-block-text')].some(window.visible));
  return part(page).evaluate((element) => {
    const block = [...element.querySelectorAll('[data-type="Tool"]')].find((one) => one.getBoundingClientRect().bottom > window.middle);
    return { text: block.textContent, offset: Math.round(block.getBoundingClientRect().top) };
  });
}

test("the end is shown first, from one small page of the log", async () => {
  const context = await deck.openContext();
  const page = await context.newPage();
  const calls = watchCalls(page, /\/log$/);
  await page.goto(`${deck.server.url}/?session=${await longSession()}`);
  await shown(page);
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  assert.match(calls.all[0], /before=\d+&limit=40/);
  assert.ok(calls.all.length <= 3, calls.all.join("\n"));
  assert.ok((await inDocument(page)) < 400, "not everything at once");
  // What has just become higher is followed in the next frame.
  await waitFor(() => part(page).evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight < 2), "the view at the end");
});

test("going up loads what was before, and what is being read stays where it is", async () => {
  const page = await openSession(deck, await longSession());
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  const calls = watchCalls(page, /\/log$/);
  for (let round = 0; round < 5; round += 1) {
    await scrollTo(page, 300);
    const before = await reading(page);
    // Only an older page moves the view so far from the top. The first one may have been asked for before this test went up.
    await waitFor(async () => (await part(page).evaluate((element) => element.scrollTop > 1000)) && calls.underWay === 0, "the page above");
    const after = await reading(page);
    assert.equal(after.text, before.text, `round ${round}`);
    assert.ok(Math.abs(after.offset - before.offset) <= 1, `round ${round}: ${before.offset} → ${after.offset}`);
  }
  assert.ok(calls.all.length >= 4, `an older page for each round: ${calls.all.join()}`);
});

test("the whole way up and down stays light, in order and complete", async () => {
  const page = await openSession(deck, await longSession());
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  const calls = watchCalls(page, /\/log$/);
  // Goes up by itself, as fast as pages come, and notes every tool call that is ever in the document.
  await page.evaluate(() => {
    const part = document.querySelector("#session-part");
    window.walk = { most: 0, seen: new Set(), done: false };
    const step = () => {
      window.walk.most = Math.max(window.walk.most, part.querySelectorAll(".message-block").length);
      for (const { textContent } of part.firstElementChild.nextElementSibling.querySelectorAll(".message-block-summary")) window.walk.seen.add(textContent);
      window.walk.done = /Start of the session/.test(part.firstElementChild.textContent);
      if (window.walk.done) return;
      part.scrollTop = 0;
      requestAnimationFrame(step);
    };
    for (const { textContent } of part.querySelectorAll(".message-block-summary")) window.walk.seen.add(textContent);
    step();
  });
  // Thousands of frames: as long as a busy machine needs.
  await page.waitForFunction(() => window.walk.done, null, { timeout: 0 });
  const { most, tools } = await page.evaluate(() => ({ most: window.walk.most, tools: [...window.walk.seen].filter((text) => text.startsWith("echo ")).length }));
  assert.ok(most < 2000, `at most ${most} blocks were in the document`);
  assert.equal(tools, BLOCKS / 2, "every tool call was there");
  await scrollTo(page, 0);
  await waitForText(blocks(page, "User").first(), new RegExp(`blocks ${BLOCKS}`));
  // In the middle pages were let go of; coming back fills them again.
  const middle = await part(page).evaluate((element) => {
    const top = element.scrollHeight / 2;
    element.scrollTo({ top });
    return top;
  });
  await waitFor(() => part(page).evaluate((element, top) => {
    const box = element.getBoundingClientRect();
    const found = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)?.closest(".message-block");
    return Boolean(found) && Math.abs(element.scrollTop - top) < 20_000;
  }, middle), "blocks in the middle");
  const numbers = await page.locator(".message-block-summary").evaluateAll((all) => all.map((one) => Number(/^echo (\d+)$/.exec(one.textContent)?.[1])).filter((number) => !Number.isNaN(number)));
  assert.deepEqual(numbers, numbers.toSorted((one, other) => one - other), "in order");
  await part(page).evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  assert.ok((await inDocument(page)) < 2000);
  const again = calls.all.filter((call) => call.includes("after="));
  assert.ok(again.length > 0 && again.every((call) => Number(/limit=(\d+)/.exec(call)[1]) <= 400), `no more than a page that was let go of: ${again}`);
});

test("what grows above the view does not move it, however the reader came there", async () => {
  const page = await openSession(deck, await longSession());
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  // Some browsers have an anchor of their own, and some do not.
  await part(page).evaluate((element) => element.style.setProperty("overflow-anchor", "none"));
  const afterTwoFrames = (change, argument) => part(page).evaluate(change, argument).then(() => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))));
  for (const pixels of [-700, -40, 90, -2500, 1500, -10]) {
    await afterTwoFrames((element, pixels) => element.scrollBy(0, pixels), pixels);
    const before = await reading(page);
    await afterTwoFrames((element) => {
      const { top } = element.getBoundingClientRect();
      const above = [...element.querySelectorAll(".message-block")].findLast((block) => block.getBoundingClientRect().bottom <= top);
      above.style.setProperty("padding-bottom", `${above.offsetHeight + 50}px`);
    });
    assert.deepEqual(await reading(page), before, `after ${pixels} pixels`);
  }
});

test("the browser's search finds what is loaded", async () => {
  const page = await openSession(deck, await longSession());
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  await scrollTo(page, 200);
  await waitFor(() => part(page).evaluate((element) => element.scrollTop > 1000), "the page above");
  const found = await page.evaluate((number) => window.find(String(number), false, false, true), BLOCKS - 41);
  assert.ok(found, "far outside the view");
  // What is in a closed block is opened by the search itself.
  const closed = blocks(page, "Reasoning").last();
  assert.equal(await closed.locator(".message-block-body").getAttribute("hidden"), "until-found");
  await closed.locator(".message-block-body").evaluate((body) => body.dispatchEvent(new Event("beforematch", { bubbles: true })));
  assert.ok(await closed.locator(".message-block-body").isVisible());
});

test("a session that grows while it is watched stays light too", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "blocks 3000");
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  await waitFor(async () => (await inDocument(page)) < 2000, "the first pages to be let go of");
  await scrollTo(page, 0);
  await waitForText(blocks(page, "User").first(), /blocks 3000/);
});

test("the end is followed until the reader scrolls up, and again when he goes back", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await turn(page, "blocks 60");
  const gap = () => part(page).evaluate((element) => Math.round(element.scrollHeight - element.scrollTop - element.clientHeight));
  await waitFor(async () => (await gap()) < 2, "the end");
  await part(page).hover();
  await page.mouse.wheel(0, -600);
  await page.locator("#to-end-button").waitFor();
  const before = await reading(page);
  await turn(page, "blocks 60");
  assert.deepEqual(await reading(page), before, "what is being read stays");
  assert.ok((await gap()) > 600);
  await page.locator("#to-end-button").click();
  await waitFor(async () => (await gap()) < 2, "the end again");
  assert.ok(await page.locator("#to-end-button").isHidden());
  await turn(page, "blocks 40");
  await waitFor(async () => (await gap()) < 2, "the end is followed again");
});

test("a request far below is pointed at", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "blocks 60");
  const page = await openSession(deck, id);
  await waitForText(blocks(page).last(), /all the demo's blocks/);
  await part(page).hover();
  await page.mouse.wheel(0, -800);
  await page.locator("#to-end-button").waitFor();
  await page.locator("#request-textarea").fill("permission");
  await page.keyboard.press("Control+Enter");
  await waitForText(page.locator("#to-end-button"), "Needs your input");
});
