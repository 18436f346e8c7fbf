// The warning about a shared folder: one sentence, however many sessions work there, and nothing moves when it comes or goes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, folderKnown, rendered, shown, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";

const deck = useDeck();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const note = (page) => page.locator('[data-banner="shared-folder"]');
const warning = (page) => page.locator("#working-dir-warning");

/** Adds sessions that work in the folder to the list, which the page gets when `release` is called. */
async function crowd(context, count) {
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await context.route(/\/api\/copilot\/session\?limit=/, async (route) => {
    const reply = await (await route.fetch()).json();
    const others = Array.from({ length: count }, (_, index) => ({
      sessionId: `session-${9000 + index}`,
      title: `Other ${index + 1}: rework the importer and everything that depends on it`,
      state: index % 2 === 0 ? "waiting" : "working",
      workingDirectory: deck.server.workFolder,
      model: "demo",
      runtime: "demo",
      pending: 0,
      createdAt: new Date().toISOString(),
      updatedAt: new Date().toISOString(),
    }));
    await held;
    await route.fulfill({ json: { ...reply, sessions: [...others, ...reply.sessions] } });
  });
  return release;
}

/** Where things are: the blocks of the transcript, the transcript, the composer and its parts. */
const places = (page) =>
  page.evaluate(() => {
    const tops = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility()).map((one) => Math.round(one.getBoundingClientRect().top));
    const { top, bottom } = document.querySelector("#session-part").getBoundingClientRect();
    return { transcript: [top, bottom].map(Math.round), blocks: tops(".message-block"), ends: tops(".turn-end"), composer: tops("#request-part, #request-textarea, #request-buttons") };
  });

for (const [device, settings] of [["a wide page", { viewport: { width: 1440, height: 900 } }], ["a phone", PHONE]]) {
  for (const turns of [1, 6]) {
    test(`50 sessions in the folder are one sentence that moves nothing, on ${device} after ${turns} turns`, async () => {
      const id = await deck.server.session();
      for (let turn = 0; turn < turns; turn += 1) await deck.server.turn(id, turn % 2 === 0 ? "markdown" : "hello");
      const context = await deck.openContext(settings);
      const release = await crowd(context, 50);
      const page = await context.newPage();
      // All but the list of sessions, which is held, and what stays open.
      const calls = watchCalls(page, /^\/api\/(?!events$|copilot\/session$|copilot\/session\/[^/]+\/live)/);
      await page.goto(`${deck.server.url}/?session=${id}`);
      await shown(page);
      await blocks(page, "Message").last().waitFor();
      await page.locator("#composer-model:enabled").waitFor();
      await waitFor(() => calls.underWay === 0, "all replies");
      await rendered(page);
      const before = await places(page);
      release();
      await note(page).waitFor();
      assert.match(await note(page).textContent(), /^50 other sessions are working in this folder.*: Other 1: [^,]+…, Other 2: .+… and 48 more$/);
      assert.equal(await note(page).locator("a").count(), 2);
      assert.deepEqual(await places(page), before, "nothing moved");
      const { height } = await note(page).boundingBox();
      assert.ok(height <= 44, `${height} px high`);
      assert.ok(await note(page).locator("p").evaluate((text) => text.scrollHeight <= text.clientHeight + 1), "the whole sentence is seen");
      const text = await page.locator("#request-textarea").boundingBox();
      assert.ok(text.height >= 60, `${text.height} px for the text`);
      await note(page).getByRole("button", { name: "Dismiss" }).click();
      await note(page).waitFor({ state: "detached" });
      assert.deepEqual(await places(page), before, "nothing moved when it was dismissed");
    });
  }
}

test("the sentence counts: one, two, three", async () => {
  const sentences = {
    1: /^Another session is working in this folder and may change the same files: Other 1: .+$/,
    2: /^2 other sessions are working in this folder .*: Other 1: .+ and Other 2: .+$/,
    3: /^3 other sessions are working in this folder .*: Other 1: .+, Other 2: .+ and 1 more$/,
  };
  for (const [count, sentence] of Object.entries(sentences)) {
    const context = await deck.openContext({ viewport: { width: 1440, height: 900 } });
    const release = await crowd(context, Number(count));
    release();
    const page = await context.newPage();
    await page.goto(`${deck.server.url}/?session=${await deck.server.session()}`);
    await waitForText(note(page), sentence);
    await page.goto(deck.server.url);
    await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
    await folderKnown(page);
    await page.locator("#working-dir").fill(deck.server.workFolder);
    await waitForText(warning(page), sentence);
  }
});

test("the warning on the home page moves nothing either, whichever reply comes first", async () => {
  for (const settings of [PHONE, { ...PHONE, viewport: { width: 360, height: 740 } }, { ...PHONE, viewport: { width: 320, height: 640 } }, { viewport: { width: 1440, height: 900 } }]) {
    for (const order of ["sessions first", "agents first"]) {
      const context = await deck.openContext(settings);
      const sessions = await crowd(context, 50);
      let agents;
      const held = new Promise((resolve) => {
        agents = resolve;
      });
      await context.route(/\/api\/(runtimes|models)/, async (route) => {
        await held;
        await route.fallback();
      });
      const page = await context.newPage();
      await page.goto(`${deck.server.url}/`);
      await page.locator("#inbox-button:enabled").waitFor();
      await folderKnown(page);
      await page.locator("#working-dir").fill(deck.server.workFolder);
      const tops = () => page.evaluate(() => ["#start-button", "#recent-sessions-title", "#session-list"].map((selector) => Math.round(document.querySelector(selector).getBoundingClientRect().top)));
      const before = await tops();
      const steps = [
        async () => {
          sessions();
          await warning(page).waitFor();
        },
        async () => {
          agents();
          await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
        },
      ];
      for (const step of order === "sessions first" ? steps : steps.toReversed()) {
        await step();
        assert.deepEqual(await tops(), before, `${settings.viewport.width} px, ${order}`);
      }
      assert.ok(await warning(page).isVisible());
      assert.ok(await warning(page).evaluate((text) => text.scrollHeight <= text.clientHeight + 1), `${settings.viewport.width} px: the whole sentence is seen`);
    }
  }
});
