// The request part on a phone: who works with how much, the switches, the queue and the text, each where it can be read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession, send, shown, taken, useDeck, waitFor } from "./support/index.mjs";

const deck = useDeck();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** A session with a context meter and a long name of a model, on a phone. */
async function phonePage(settings = PHONE) {
  const id = await deck.server.session();
  const context = await deck.openContext(settings);
  await context.route(new RegExp(`/api/copilot/session/${id}$`), async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    const details = await (await route.fetch()).json();
    return route.fulfill({ json: { ...details, agentName: "GitHub Copilot", demo: false, model: "claude-sonnet-4.5-thinking", context: { currentTokens: 9600, tokenLimit: 128000 }, usage: { inputTokens: 12000, outputTokens: 3400 } } });
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  // The switches are made again when the agents come and when the models do.
  await page.locator("#composer-model:enabled option[value=demo-slow]").waitFor({ state: "attached" });
  await page.locator("#composer-mode").waitFor();
  return { id, page };
}

/** What a locator's element needs and has: lines, and whether its text is cut off. */
const fit = (locator) =>
  locator.evaluate((element) => {
    const { top, bottom, left, right, height } = element.getBoundingClientRect();
    return { top, bottom, left, right, height, lines: height / Number.parseFloat(getComputedStyle(element).lineHeight), isCut: element.scrollWidth > element.clientWidth };
  });

test("the agent, its context and its usage are one line, and the switches share the next", async () => {
  for (const width of [390, 360, 320]) {
    const { page } = await phonePage({ ...PHONE, viewport: { width, height: 844 } });
    const agent = page.locator("#composer-side .meter-agent");
    const meters = await fit(page.locator("#composer-meters"));
    assert.equal(await agent.textContent(), "GitHub Copilot");
    assert.ok((await fit(agent)).height < 20, "the agent's name is one line");
    if (width === 390) assert.ok(!(await fit(agent)).isCut, "and whole");
    assert.ok(await page.locator("#composer-meters meter").isVisible());
    assert.match(await page.locator("#composer-meters").innerText(), /9\.6k \/ 128k[^]*12k tokens in/);
    assert.ok(meters.height < 24 && meters.right <= width, `${width} px: one line`);
    const switches = await page.locator("#composer-switches select").evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().toJSON()));
    assert.equal(switches.length, 2);
    for (const { top, left, right, width: wide } of switches) {
      assert.ok(Math.abs(top - switches[0].top) < 1 && top >= meters.bottom, `${width} px: one row below`);
      assert.ok(left >= 0 && right <= width && wide >= 74, `${width} px: ${wide} px wide`);
    }
    assert.ok(switches[1].left >= switches[0].right);
    assert.equal(await page.locator("#composer-mode").evaluate((select) => getComputedStyle(select).textOverflow), "ellipsis");
    // Its words, the arrow and the padding.
    const needs = await page.locator("#composer-mode").evaluate((select) => {
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = getComputedStyle(select).font;
      return pen.measureText(select.selectedOptions[0].text).width + 28;
    });
    assert.ok(switches[1].width >= needs, `${width} px: Ask me is whole: ${switches[1].width} of ${needs}`);
  }
});

test("two queued prompts are both seen below a heading with their count, more scroll, and there is room for the text", async () => {
  for (const height of [844, 667]) {
    const { page } = await phonePage({ ...PHONE, viewport: { width: 390, height } });
    await send(page, "permission");
    await page.locator(".request-choice").first().waitFor();
    const queue = async (text, count) => {
      await send(page, text, "Alt+Enter");
      await waitFor(async () => (await page.locator("#composer-queue-list li").count()) === count, `${count} in the queue`);
      await taken(page);
    };
    await queue("hello one", 1);
    await queue("hello two", 2);
    const seen = async () => {
      const list = await fit(page.locator("#composer-queue-list"));
      const items = await page.locator("#composer-queue-list li").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
      return items.filter(({ top, bottom }) => top >= list.top - 1 && bottom <= list.bottom + 1).length;
    };
    assert.ok(await page.locator("#composer-queue-title").isVisible());
    assert.equal(await page.locator("#composer-queue-title").textContent(), "Queued (2)");
    if (height === 844) assert.equal(await seen(), 2);
    assert.ok((await seen()) >= 1);
    await queue("hello three", 3);
    await page.locator("#composer-queue-list li").last().scrollIntoViewIfNeeded();
    const [part, text, last] = [await fit(page.locator("#request-part")), await fit(page.locator("#request-textarea")), await fit(page.locator("#composer-queue-list li").last())];
    assert.ok(last.bottom <= text.top + 1, "the last prompt can be scrolled to");
    assert.ok(text.height >= 60, `${height} px: ${text.height} px for the text`);
    assert.ok((await fit(page.locator("#request-buttons"))).bottom <= part.bottom + 0.5, "the buttons are seen");
    assert.ok((await fit(page.locator("#session-part"))).height >= height * 0.35, "and so is the transcript");
  }
});

test("above the keyboard the text has two lines at least, idle and while the agent works", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id, { ...PHONE, viewport: { width: 390, height: 420 } });
  const check = async (what) => {
    const { lines, size } = await page.locator("#request-textarea").evaluate((textarea) => {
      const style = getComputedStyle(textarea);
      const size = Number.parseFloat(style.fontSize);
      return { size, lines: (textarea.clientHeight - Number.parseFloat(style.paddingTop) - Number.parseFloat(style.paddingBottom)) / Number.parseFloat(style.lineHeight) };
    });
    assert.ok(lines >= 1.99, `${what}: ${lines} lines of ${size} px`);
    assert.ok((await page.locator("#session-part").boundingBox()).height >= 180, `${what}: room to read`);
  };
  await page.locator("#request-part.toolbar").waitFor();
  await check("idle");
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  await check("working");
});
