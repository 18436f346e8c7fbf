// Phones: what can be touched is large enough, no hints at keys, and the on-screen keyboard leaves room to read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, JobsStub, openSession, openSetup, send, shown, useDeck } from "./support/index.mjs";

const deck = useDeck();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const SMALLEST = 40;

/** What can be touched on the page now and is too small: `["button#id.class \"text\" 30×20"]`. */
function tooSmall(page) {
  return page.evaluate((smallest) => {
    const targets = document.querySelectorAll('button, a[href], input:not([type="hidden"]), select, textarea, summary, [role="button"], [role="tab"], [role="option"]');
    const isSeen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getClientRects().length > 0;
    // What is drawn in a chart has the size that its reader chose.
    const isDrawn = (element) => element.closest("svg") !== null;
    const isOff = (element) => element.matches('[type="checkbox"]:disabled');
    // A link within a sentence has the size of its words.
    const isInText = (element) => element.matches("a") && getComputedStyle(element).display === "inline" && element.parentElement.textContent.trim() !== element.textContent.trim();
    const boxOf = (element) => (element.matches('[type="checkbox"], [type="radio"]') ? (element.closest("label") ?? element) : element).getBoundingClientRect();
    const name = (element) => `${element.localName}${element.id ? `#${element.id}` : ""}${[...element.classList].map((one) => `.${one}`).join("")} ${JSON.stringify((element.textContent || element.ariaLabel || "").trim().slice(0, 30))}`;
    return [...targets]
      .filter((element) => isSeen(element) && !isInText(element) && !isDrawn(element) && !isOff(element))
      .map((element) => [element, boxOf(element)])
      .filter(([, { width, height }]) => width > 0 && height > 0 && (Math.round(width) < smallest || Math.round(height) < smallest))
      .map(([element, { width, height }]) => `${name(element)} ${Math.round(width)}×${Math.round(height)}`);
  }, SMALLEST);
}

async function checkTargets(page, what) {
  assert.deepEqual(await tooSmall(page), [], what);
  const hints = await page.locator("kbd").evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent));
  assert.deepEqual(hints, [], `${what}: hints at keys`);
}

test("everything in a session is large enough for a finger", async () => {
  const id = await deck.server.session();
  for (const text of ["hello", "tool", "markdown", "edit"]) await deck.server.turn(id, text);
  const page = await openSession(deck, id, PHONE);
  await blocks(page, "Tool").first().waitFor();
  await checkTargets(page, "a session");
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  await checkTargets(page, "a session with a request");
  for (const button of ["changes", "details", "inbox"]) {
    await page.locator(`#${button}-button`).click();
    await page.locator("#side-panel h2, #side-panel-title").first().waitFor();
    await checkTargets(page, `the panel of ${button}`);
    await page.keyboard.press("Escape");
  }
  await page.locator("#more-button").click();
  await page.locator("#more-menu button").first().waitFor();
  await checkTargets(page, "the menu");
});

test("what a finger cannot hover over is seen at once", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const page = await openSession(deck, id, PHONE);
  const fork = page.locator(".turn-end .fork-button");
  await fork.waitFor();
  assert.equal(await fork.evaluate((button) => getComputedStyle(button).opacity), "1");
});

test("everything on the set-up is large enough for a finger", async () => {
  await deck.server.session({ title: "One" });
  const page = await openSetup(deck, "/", PHONE);
  await checkTargets(page, "the set-up");
  await page.locator("#browse-button").click();
  await page.locator("dialog[open]").waitFor();
  await checkTargets(page, "the folder picker");
});

test("everything on the pages of jobs and on the login is large enough for a finger", async () => {
  const context = await deck.openContext(PHONE);
  await JobsStub.use(context);
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobs.html?wb=/`);
  await page.locator(".matrix-job-btn").first().waitFor();
  await checkTargets(page, "the jobs");
  await page.goto(`${deck.server.url}/jobTracking.html?jobName=review&wb=/`);
  await page.locator("#inbox-button:enabled").waitFor();
  await checkTargets(page, "a preview");
  const stranger = await (await deck.openStrangersContext(PHONE)).newPage();
  await stranger.goto(`${deck.server.url}/login`);
  await stranger.locator("#token").waitFor();
  await checkTargets(stranger, "the login");
});

test("the on-screen keyboard leaves room to read", async () => {
  const id = await deck.server.session();
  for (const text of ["hello", "markdown"]) await deck.server.turn(id, text);
  // A phone whose keyboard is open: the page is as high as what is left (interactive-widget=resizes-content).
  const page = await openSession(deck, id, { ...PHONE, viewport: { width: 390, height: 420 } });
  await page.locator("#request-textarea").focus();
  const { height } = await page.locator("#session-part").boundingBox();
  assert.ok(height >= 180, `${height} px for the conversation`);
  assert.ok(await page.locator("#send-button").isVisible());
  const send = await page.locator("#send-button").boundingBox();
  assert.ok(send.y + send.height <= 420, "Send is on the screen");
});

test("the list of keyboard shortcuts has its keys on a phone too, whose keyboard may be attached", async () => {
  const page = await openSession(deck, await deck.server.session(), PHONE);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("?");
  const keys = page.locator(".key-list kbd");
  await keys.first().waitFor();
  assert.ok(await keys.evaluateAll((all) => all.every((one) => one.checkVisibility())));
  assert.ok(await page.locator("#send-button kbd").isHidden());
});

test("a mouse gets the dense page, with hints at keys", async () => {
  const page = await openSession(deck, await deck.server.session());
  await shown(page);
  assert.ok(await page.locator("#send-button kbd").isVisible());
  assert.ok((await page.locator("#send-button").boundingBox()).height < SMALLEST);
});
