// What blocks say of themselves at their upper edge, and the text beside it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStub, blocks, shown, useDeck, waitFor } from "./support/index.mjs";

const deck = useDeck();

const WORDS = "Please refactor the parser module so that every function has a comment, then run the whole test suite and report which of the tests failed and why they did";

/** Whether any visible part of a block's header lies over a line of its text. */
const overlaps = (block) =>
  block.evaluate((element) => {
    const lines = [];
    const texts = document.createTreeWalker(element.querySelector(".message-block-content"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      lines.push(...range.getClientRects());
    }
    const parts = [...element.querySelectorAll(".message-block-title b, .message-block-time")].filter((part) => part.textContent).map((part) => part.getBoundingClientRect());
    if (parts.length === 0 || lines.length === 0) return "nothing to compare";
    return parts.some((part) => lines.some((line) => line.right > part.left && line.left < part.right && line.bottom > part.top + 2 && line.top < part.bottom - 2));
  });

for (const [device, viewport] of [["desktop", { width: 1440, height: 900 }], ["a narrow window", { width: 820, height: 700 }], ["phone", { width: 390, height: 844 }]]) {
  test(`neither “queued” nor a time lies over the text (${device})`, async () => {
    const id = await deck.server.session();
    const context = await deck.openContext({ viewport });
    const log = await LogStub.use({ deck, context, id });
    // The server has no such events to render.
    await context.route(/\/blocks?[/?]/, (route) => {
      const seqs = new URL(route.request().url()).searchParams.get("seqs")?.split(",").map(Number) ?? [];
      return route.fulfill({ json: { blocks: seqs.map((seq) => ({ seq, html: `<p>${WORDS} ${WORDS}</p>` })) } });
    });
    await context.route(/\/block\/\d+\.html/, (route) => route.fulfill({ contentType: "text/html", body: `<p>${WORDS} ${WORDS}</p>` }));
    const began = [{ callback: "onUserPrompt", promptId: "prompt-1", text: "write", queued: false }, { callback: "onAgentStart", turnId: "turn-1" }, { callback: "onStartMessage", messageId: "m" }];
    log.events.push(...began.map((response, index) => ({ seq: index + 1, time: new Date(Date.now() - 8000).toISOString(), response })));
    log.add({ callback: "onEndMessage", messageId: "m", completeContent: WORDS }, { callback: "onUserPrompt", promptId: "prompt-2", text: WORDS, queued: true });
    const page = await context.newPage();
    await page.goto(`${deck.server.url}/?session=${id}`);
    await shown(page);
    const [queued, message] = [blocks(page, "User").last(), blocks(page, "Message").last()];
    await queued.locator(".message-block-title", { hasText: "queued" }).waitFor({ state: "attached" });
    await message.locator(".rendered-content").waitFor();
    await waitFor(async () => (await message.locator(".message-block-time").textContent()) !== "", "its time");
    assert.equal(await overlaps(queued), false, "the prompt");
    assert.equal(await overlaps(message), false, "the message");
  });
}
