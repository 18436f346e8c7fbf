// The line above a session: nothing covers anything, and the title can be read, at every width.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession, shown, useDeck, waitForText } from "./support/index.mjs";

const deck = useDeck();

const LONG = "Refactor the parser of the configuration so that it reports all errors at once";
const PARTS = "#sidebar-button, #home-link, #session-state, #session-title, #session-facts > *, #connection-status, #top-buttons > button, #stop-server-button";

/** A session with everything that its header can have, at this width. */
async function fullHeader({ title = LONG, count = 0, ...settings } = {}) {
  const id = await deck.server.session({ title });
  const context = await deck.openContext({ viewport: { width: 1440, height: 900 }, ...settings });
  const workingDirectory = "/home/somebody/projects/a-rather-long-name-of-a-project/packages/parser";
  await context.route(new RegExp(`/api/copilot/session/${id}$`), async (route) => {
    const details = await (await route.fetch()).json();
    await route.fulfill({ json: { ...details, workingDirectory, model: "claude-sonnet-4.5", context: { currentTokens: 9600, tokenLimit: 128000 }, job: { jobId: "job-1", jobName: "Review", taskName: "Review it" } } });
  });
  // What the server says of its sessions would take the place of this count.
  if (count > 0) await context.route(/\/api\/events$/, () => {});
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await page.locator("#outline-button").waitFor();
  await page.locator(".fact-context").waitFor({ state: "attached" });
  if (count > 0) {
    await page.evaluate((text) => {
      const counter = document.querySelector("#inbox-count");
      counter.textContent = text;
      counter.hidden = false;
    }, String(count));
  }
  return { id, page };
}

/** What is seen of the header once a frame was painted at that width. */
async function headerAt(page, width) {
  await page.setViewportSize({ width, height: page.viewportSize().height });
  return page.evaluate(async (selector) => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const title = document.querySelector("#session-title");
    const parts = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility() && one.getBoundingClientRect().width > 0);
    return {
      height: document.querySelector("#top-bar").offsetHeight,
      title: { width: title.clientWidth, natural: title.scrollWidth },
      facts: [...document.querySelectorAll("#session-facts > *")].filter((one) => one.checkVisibility()).map((one) => one.className.split(" ").at(-1)),
      parts: parts.map((one) => ({ name: one.id || one.className, ...one.getBoundingClientRect().toJSON() })),
    };
  }, PARTS);
}

function assertApart({ parts }, width, what) {
  for (const [index, one] of parts.entries()) {
    assert.ok(one.left >= -0.5 && one.right <= width + 0.5, `${what}: ${one.name} is cut off`);
    for (const other of parts.slice(index + 1)) {
      const isApart = one.right <= other.left + 0.5 || other.right <= one.left + 0.5 || one.bottom <= other.top + 0.5 || other.bottom <= one.top + 0.5;
      assert.ok(isApart, `${what}: ${one.name} and ${other.name} overlap`);
    }
  }
}

const WIDTHS = [320, 360, 390, 480, ...Array.from({ length: 62 }, (_, index) => 481 + index * 20), 1700];

test("nothing overlaps and the title can be read at every width, idle and when the session needs somebody", async () => {
  const { id, page } = await fullHeader();
  const everywhere = async (what, widths) => {
    for (const width of widths) {
      const header = await headerAt(page, width);
      assertApart(header, width, `${what}, ${width} px`);
      assert.ok(header.title.width >= Math.min(header.title.natural, 100), `${what}, ${width} px: ${header.title.width} px for the title`);
    }
  };
  await everywhere("idle", WIDTHS);
  await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  await waitForText(page.locator("#session-state"), "Needs your input");
  await waitForText(page.locator("#inbox-count"), "1");
  await everywhere("waiting", WIDTHS);
  const some = WIDTHS.filter((width) => width > 640 && width % 3 === 0);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.keyboard.press("Alt+l");
  await everywhere("sidebar switched", some);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.locator("#details-button").click();
  await page.locator("#side-panel").waitFor();
  await everywhere("beside a panel", some);
});

test("facts give way in order: the folder, the model, the context", async () => {
  const { page } = await fullHeader();
  const ORDER = ["fact-folder", "fact-model", "fact-context", "fact-job"];
  let before = ORDER.length;
  for (const width of WIDTHS.toReversed()) {
    const { facts } = await headerAt(page, width);
    assert.deepEqual(ORDER.filter((name) => facts.includes(name)), ORDER.slice(ORDER.length - facts.length), `${width} px`);
    // Where the words on the buttons go, there is more room again.
    if (width > 960) assert.ok(facts.length <= before, `${width} px`);
    before = facts.length;
  }
  const { facts } = await headerAt(page, 1700);
  assert.equal(facts.length, ORDER.length, "and come back");
});

test("a short title leaves its room to the facts", async () => {
  const { page } = await fullHeader({ title: "Fix" });
  const { facts, title } = await headerAt(page, 1440);
  assert.equal(facts.length, 4);
  assert.equal(title.width, title.natural);
});

test("on a phone the buttons share one row, however many requests wait", async () => {
  const touch = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const { page: none } = await fullHeader(touch);
  const { height } = await headerAt(none, 390);
  for (const count of [1, 50, 123]) {
    const { page } = await fullHeader({ ...touch, count });
    for (const width of [480, 390, 375, 360, 320]) {
      const header = await headerAt(page, width);
      assertApart(header, width, `${count} wait, ${width} px`);
      assert.ok(header.height <= height + 4, `${count} wait, ${width} px: the header is ${header.height} px high`);
      await page.locator("#inbox-count").waitFor();
    }
  }
});

test("the count says how many requests wait, in the button's corner on a phone", async () => {
  const id = await deck.server.session();
  await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  const page = await openSession(deck, id, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await page.locator("#inbox-count:not([hidden])").waitFor();
  const [count, button] = [await page.locator("#inbox-count").boundingBox(), await page.locator("#inbox-button").boundingBox()];
  assert.ok(count.x >= button.x && count.y >= button.y && count.y + count.height <= button.y + button.height, "within its button");
});
