// The request part's layout: the transcript's column, buttons in one row, the toolbar, and what is remembered.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { checkAccessibility, openSession, send, shown, taken, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();
const textarea = (page) => page.locator("#request-textarea");
const height = (page) => page.locator("#request-part").evaluate((part) => part.getBoundingClientRect().height);
const isToolbar = (page) => page.locator("#request-part").evaluate((part) => part.classList.contains("toolbar"));

/** Lets the session's agent be steered, so that all buttons can be there. */
async function steerable(context) {
  await context.route(/\/api\/runtimes$/, async (route) => {
    const answer = await route.fetch();
    const { runtimes } = await answer.json();
    await route.fulfill({ json: { runtimes: runtimes.map((one) => ({ ...one, capabilities: { ...one.capabilities, steering: true, effortLevels: ["low", "high"] } })) } });
  });
}

/** The buttons of the request that can be seen: `{ id, top, bottom, left, right }`, with the box of their part. */
function buttonRow(page) {
  return page.evaluate(() => {
    const part = document.querySelector("#request-part").getBoundingClientRect();
    const buttons = [...document.querySelectorAll("#request-buttons button")].filter((button) => button.offsetParent);
    return {
      part: { left: part.left, right: part.right, bottom: part.bottom },
      buttons: buttons.map((button) => ({ id: button.id, ...button.getBoundingClientRect().toJSON() })),
    };
  });
}

async function assertOneRow(page, what) {
  const { part, buttons } = await buttonRow(page);
  assert.ok(buttons.length > 0, what);
  const sorted = buttons.toSorted((one, other) => one.left - other.left);
  for (const [index, { id, top, bottom, left, right }] of sorted.entries()) {
    const middle = (sorted[0].top + sorted[0].bottom) / 2;
    assert.ok(top < middle && bottom > middle, `${what}: ${id} is in another row`);
    assert.ok(left >= part.left - 0.5 && right <= part.right + 0.5 && bottom <= part.bottom + 0.5, `${what}: ${id} is cut off: ${JSON.stringify({ left, right, bottom, part })}`);
    assert.ok(index === 0 || left >= sorted[index - 1].right - 0.5, `${what}: ${id} covers ${sorted[index - 1]?.id}`);
  }
}

test("all buttons share one row at every width, idle and working, with and without a panel", async () => {
  const id = await deck.server.session();
  const context = await deck.openContext({ viewport: { width: 1440, height: 900 } });
  await steerable(context);
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator("#composer-effort").waitFor({ state: "attached" });
  const widths = [320, 360, 390, 519, 520, 640, 768, 799, 800, 1024, 1100, 1280, 1440, 1679, 1680, 1920];
  const everywhere = async (state) => {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await assertOneRow(page, `${state}, ${width} px`);
    }
  };
  await everywhere("idle");
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  for (const name of ["interrupt", "steer", "queue", "send"]) assert.ok(await page.locator(`#${name}-button`).isVisible(), name);
  await everywhere("working");
  await page.setViewportSize({ width: 1440, height: 900 });
  await send(page, "hello", "Alt+Enter");
  await page.locator("#composer-queue-list li").first().waitFor();
  await taken(page);
  await textarea(page).fill("more");
  await textarea(page).press("Control+Enter");
  await page.locator("#request-hint").waitFor();
  await everywhere("working, with a queue and a hint");
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.locator("#changes-button").click();
  await page.locator("#side-panel").waitFor();
  for (const width of widths.filter((one) => one > 640)) {
    await page.setViewportSize({ width, height: 900 });
    await assertOneRow(page, `beside a panel, ${width} px`);
  }
});

test("the text keeps its height when work begins, beside a panel and on a phone too", async () => {
  for (const [width, hasPanel] of [[1440, false], [1440, true], [800, true], [360, false]]) {
    // Nobody else waits there, which a note beside the text would say.
    const workingDirectory = path.join(deck.server.workFolder, `${width}-${hasPanel}`);
    await mkdir(workingDirectory);
    const id = await deck.server.session({ workingDirectory });
    const context = await deck.openContext({ viewport: { width, height: 900 } });
    await steerable(context);
    const page = await context.newPage();
    await page.goto(`${deck.server.url}/?session=${id}`);
    await shown(page);
    for (const part of ["#composer-effort", "#composer-model:enabled"]) await page.locator(part).waitFor({ state: "attached" });
    if (hasPanel) {
      await page.keyboard.press("Alt+c");
      await page.locator("#side-panel").waitFor();
    }
    const idle = await textarea(page).boundingBox();
    await send(page, "permission");
    await page.locator(".request-choice").first().waitFor({ state: "attached" });
    await waitFor(() => page.locator("#queue-button").isVisible(), "the queue button");
    assert.deepEqual(await textarea(page).boundingBox(), idle, `${width} px${hasPanel ? ", beside a panel" : ""}`);
    await context.close();
  }
});

test("the agent's name is one line wherever there is room for it", async () => {
  const page = await openSession(deck, await deck.server.session());
  const name = page.locator("#composer-switches .switch-value");
  // The switches are rebuilt when the capabilities arrive, and again when the models do.
  await page.locator("#composer-model:enabled option").nth(2).waitFor({ state: "attached" });
  for (const width of [520, 640, 799, 800, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const { lines, isWhole } = await name.evaluate((element) => ({ lines: element.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(element).fontSize), isWhole: element.scrollWidth <= element.clientWidth }));
    assert.ok(lines < 2, `${width} px: ${lines} times its letters`);
    assert.ok(isWhole, `${width} px`);
  }
});

test("a finger's buttons share one row too, and are large enough", async () => {
  const id = await deck.server.session();
  for (const width of [320, 360, 390, 768]) {
    const context = await deck.openContext({ viewport: { width, height: 740 }, hasTouch: true, isMobile: true });
    await steerable(context);
    const page = await context.newPage();
    await page.goto(`${deck.server.url}/?session=${id}`);
    await page.locator("#composer-effort").waitFor({ state: "attached" });
    if (width === 320) await send(page, "permission");
    await waitFor(() => page.locator("#queue-button").isVisible(), "the queue button");
    await assertOneRow(page, `touch, ${width} px`);
    const { buttons } = await buttonRow(page);
    for (const { id: button, width: wide, height: high } of buttons) assert.ok(wide >= 40 && high >= 40, `${button}: ${wide} × ${high}`);
    await page.setViewportSize({ width, height: 420 });
    await waitFor(() => isToolbar(page), "the toolbar above the keyboard");
    await assertOneRow(page, `above the keyboard, ${width} px`);
    assert.ok((await height(page)) < 110);
    await context.close();
  }
});

test("the request box has the transcript's left edge, its text that of the blocks, and on a wide page the width", async () => {
  const page = await openSession(deck, await deck.server.session());
  await turn(page, "hello");
  for (const width of [1024, 1280, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    const { block, text, lefts } = await page.evaluate(() => {
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const textLeft = (selector) => {
        const { paddingLeft, borderLeftWidth } = getComputedStyle(document.querySelector(selector));
        return box(selector).left + parseFloat(paddingLeft) + parseFloat(borderLeftWidth);
      };
      const lefts = [".message-block-content", "#request-textarea"].map(textLeft);
      return { block: box(".message-block"), text: box("#request-textarea"), lefts };
    });
    assert.ok(Math.abs(block.left - text.left) < 1, `${width}: ${block.left} and ${text.left}`);
    assert.ok(Math.abs(lefts[0] - lefts[1]) < 1, `${width}: the text at ${lefts[0]} and ${lefts[1]}`);
    if (width === 1920) assert.ok(Math.abs(block.width - text.width) < 20, `${block.width} and ${text.width}`);
  }
});

test("dragged small it is one toolbar, and that is remembered", async () => {
  const id = await deck.server.session();
  const context = await deck.openContext();
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await page.locator("#composer-mode").waitFor();
  const bar = await page.locator("#resize-bar").boundingBox();
  await page.mouse.move(bar.x + 200, bar.y + 3);
  await page.mouse.down();
  await page.mouse.move(bar.x + 200, bar.y + 260, { steps: 3 });
  await page.mouse.up();
  assert.ok(await isToolbar(page));
  assert.ok((await height(page)) < 70);
  assert.ok(await page.locator("#composer-mode").isHidden());
  await turn(page, "hello");
  await textarea(page).fill("one\ntwo\nthree");
  await waitFor(async () => (await height(page)) > 80, "the toolbar grows with its text");
  await textarea(page).fill("");
  await page.reload();
  await waitFor(() => isToolbar(page), "the toolbar after a reload");
  await page.locator("#composer-more-button").click();
  await page.getByRole("button", { name: "Show everything" }).click();
  assert.equal(await height(page), 300);
  await page.locator("#resize-bar").focus();
  await page.keyboard.press("ArrowUp");
  assert.equal(await height(page), 324);
  await page.reload();
  await page.locator("#composer-mode").waitFor();
  await waitFor(async () => (await height(page)) === 324, "the chosen height after a reload");
});

test("a menu that is opened before its entries are loaded gets them, above its button", async () => {
  const context = await deck.openContext();
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  await context.route(/index\.later\.js/, async (route) => {
    await released;
    await route.continue();
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${await deck.server.session()}`);
  const menu = page.locator("#composer-menu");
  await page.locator("#composer-more-button").click();
  assert.ok(await menu.evaluate((element) => element.matches(":popover-open")));
  assert.ok(await menu.isHidden(), "an empty box is nothing to look at");
  release();
  await menu.getByRole("button", { name: "Manage templates" }).waitFor();
  const [box, button] = [await menu.boundingBox(), await page.locator("#composer-more-button").boundingBox()];
  assert.ok(box.y + box.height <= button.y && box.x <= button.x, JSON.stringify([box, button]));
  assert.ok(await menu.evaluate((element) => element.contains(document.activeElement)), "the keys go on in it");
});

test("without storage the page works, and forgets the height", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
  });
  await page.locator("#resize-bar").focus();
  await page.keyboard.press("ArrowUp");
  assert.equal(await height(page), 324);
  await turn(page, "hello");
});

test("Ctrl+Enter while the agent works says what to press, until it is done", async () => {
  const page = await openSession(deck, await deck.server.session());
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  await taken(page);
  await textarea(page).fill("hello");
  await textarea(page).press("Control+Enter");
  await waitForText(page.locator("#request-hint"), "The agent is working. Alt+Enter queues your request.");
  assert.equal(await textarea(page).inputValue(), "hello");
  await textarea(page).press("End");
  await page.keyboard.type("!");
  assert.ok(await page.locator("#request-hint").isHidden(), "typing takes it away");
  await textarea(page).press("Control+Enter");
  await page.locator("#request-hint").waitFor();
  await page.locator("#interrupt-button").click();
  await page.locator(".turn-end").waitFor();
  await page.locator("#request-hint").waitFor({ state: "hidden" });
});

test("Ctrl+Enter while a request is being sent says so, until it has arrived", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  await page.route(/\/prompt$/, async (route) => {
    await released;
    await route.continue();
  });
  await textarea(page).fill("hello");
  await textarea(page).press("Control+Enter");
  await textarea(page).press("Control+Enter");
  await waitForText(page.locator("#request-hint"), "Still sending your last request …");
  release();
  await page.locator(".turn-end").waitFor();
  // The end of the turn may be there before the reply to its prompt.
  await page.locator("#request-hint").waitFor({ state: "hidden" });
  const prompts = (await deck.server.log(id)).filter(({ response }) => response.callback === "onUserPrompt");
  assert.equal(prompts.length, 1, "it was sent once");
});

test("that a request may not have been sent goes away when the server is back", async () => {
  deck.expectConsoleErrors(/ERR_|Failed to load/);
  const context = await deck.openContext();
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${await deck.server.session()}`);
  await page.locator("#details-button:enabled").waitFor();
  await context.setOffline(true);
  await send(page, "hello");
  await waitForText(page.locator("#request-problem"), /may not have been sent/);
  await page.locator('[data-banner="connection"]').waitFor();
  await context.setOffline(false);
  await page.locator('[data-banner="connection"]').waitFor({ state: "detached" });
  await page.locator("#request-problem").waitFor({ state: "hidden" });
  assert.equal(await textarea(page).inputValue(), "hello", "the text stays");
});

test("model, effort and permissions are switched beside the request", async () => {
  deck.expectConsoleErrors(/400/);
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await waitFor(() => page.locator("#composer-model").isEnabled(), "the models");
  assert.match(await page.locator("#composer-switches").textContent(), /AgentDemo \(no AI\)/);
  assert.equal(await page.locator("#composer-effort").count(), 0, "the demo has no efforts");
  await page.locator("#composer-model").selectOption("demo-slow");
  await waitForText(page.locator(".fact-model"), "demo-slow");
  await page.locator("#composer-mode").selectOption("deny");
  await waitFor(async () => (await deck.server.call("GET", `copilot/session/${id}`)).permissionMode === "deny", "the mode");
  await page.locator("#composer-model").selectOption({ label: "Other …" });
  await page.keyboard.type("<b>my model</b>");
  await page.keyboard.press("Enter");
  await waitForText(page.locator("#request-problem"), /Could not change the setting: .*<b>my model<\/b>/);
  assert.equal(await page.locator("#composer-model").inputValue(), "demo-slow", "what is in force is shown");
  await checkAccessibility(page, "the composer");
});

test("a switch that the server refuses shows what is in force, and why", async () => {
  deck.expectConsoleErrors(/409/);
  const page = await openSession(deck, await deck.server.session());
  await page.locator("#composer-mode").waitFor();
  await page.route(/\/session\/session-\d+$/, (route) => (route.request().method() === "PATCH" ? route.fulfill({ status: 409, json: { error: "X", message: "Not now." } }) : route.continue()));
  await page.locator("#composer-mode").selectOption("deny");
  await waitForText(page.locator("#request-problem"), "Could not change the setting: Not now.");
  assert.equal(await page.locator("#composer-mode").inputValue(), "ask");
});

test("usage and credits of the session stand beside the request", async () => {
  const page = await openSession(deck, await deck.server.session());
  await turn(page, "usage 12000 3400 2 0.4 1.5");
  await waitForText(page.locator("#composer-meters"), /12k tokens in · 3\.4k out · .*1\.5 credits/);
});
