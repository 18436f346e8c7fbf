// What the server renders, in the page: Markdown, code, diffs, colours, long outputs, and the way back to the raw text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, openSession, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

async function pageWith(prompt, context) {
  const id = await deck.server.session();
  const page = await openSession(deck, id, context);
  await turn(page, prompt);
  return { id, page };
}

const rendered = (page, type) => blocks(page, type).last().locator(".rendered-content");

test("a message is Markdown when it is complete: tables, task lists, highlighted code, safe links", async () => {
  const { page } = await pageWith("markdown");
  const body = rendered(page, "Message");
  await waitForText(body.locator("h1"), "Demo of Markdown");
  assert.equal(await body.locator("table td").count(), 4);
  assert.deepEqual(await body.locator("input[type=checkbox]").evaluateAll((all) => all.map(({ checked, disabled }) => [checked, disabled])), [[true, true], [false, true]]);
  assert.equal(await body.locator(".code-block .hl-keyword").first().textContent(), "fn");
  const link = body.locator("a");
  assert.deepEqual([await link.getAttribute("target"), await link.getAttribute("rel")], ["_blank", "noopener noreferrer nofollow"]);
  assert.equal(await body.locator("[style]").count(), 0, "classes, never styles");
});

test("code is copied with its button, a block with its own", async () => {
  const { page } = await pageWith("markdown", { permissions: ["clipboard-read", "clipboard-write"] });
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await rendered(page, "Message").locator(".copy-button").click();
  await waitFor(async () => (await clipboard()) === 'fn main() {\n    println!("a demo");\n}\n', "the code");
  await blocks(page, "Message").locator(".message-block-copy").click();
  await waitFor(async () => (await clipboard()).startsWith("# Demo of Markdown"), "the message");
});

test("the raw text is one press away, and back", async () => {
  const { page } = await pageWith("markdown");
  const block = blocks(page, "Message");
  await rendered(page, "Message").locator("h1").waitFor();
  await block.locator(".message-block-raw").click();
  await waitForText(block.locator(".message-block-text"), /^# Demo of Markdown/);
  assert.equal(await block.locator(".message-block-raw").textContent(), "Markdown");
  await block.locator(".message-block-raw").click();
  await rendered(page, "Message").locator("h1").waitFor();
  await block.focus();
  await page.keyboard.press("r");
  await block.locator(".message-block-text").waitFor();
});

test("a file edit is a diff, with colours and signs that are not copied", async () => {
  const { page } = await pageWith("edit");
  const block = blocks(page, "Tool");
  await waitForText(block.locator(".message-block-summary"), "src/greeting.rs");
  await waitForText(block.locator(".message-block-outcome"), "+1 −1");
  await block.locator(".message-block-header").click();
  await waitForText(block.locator(".diff-file"), "src/greeting.rs");
  const added = block.locator(".diff-added .diff-text");
  assert.equal(await added.textContent(), '    "Hello from the demo"');
  assert.equal(await added.evaluate((element) => getComputedStyle(element, "::before").content), '"+"');
  assert.equal(await block.locator(".diff-removed .diff-text").evaluate((element) => getComputedStyle(element, "::before").content), '"−"');
});

test("output of a terminal keeps its colours, and its exit code stands at the right", async () => {
  const { page } = await pageWith("colours");
  const block = blocks(page, "Tool");
  await waitForText(block.locator(".message-block-outcome.outcome-failed"), "exit 101");
  await block.locator(".message-block-header").click();
  await waitForText(block.locator(".terminal .ansi-fg-1.ansi-bold"), "FAILED");
  const colours = await page.evaluate(() => ["ansi-fg-1", "ansi-fg-2"].map((name) => getComputedStyle(document.querySelector(`.${name}`)).color));
  assert.equal(new Set(colours).size, 2);
});

test("a picture that the agent made is shown from the session's own blobs", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  const pixel = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==", "base64");
  await page.route(/\/block\//, (route) => route.fulfill({ contentType: "text/html", body: `<div class="tool-images"><img class="agent-image" src="/api/copilot/session/${id}/blob/abc" alt="A chart" loading="lazy"></div>` }));
  let sent;
  await page.route(/\/blob\/abc$/, (route) => {
    sent = route.request().headers()["flightdeck-secret"];
    return route.fulfill({ contentType: "image/png", body: pixel });
  });
  await turn(page, "hello");
  await page.waitForFunction(() => document.querySelector(".agent-image")?.naturalWidth === 2);
  assert.match(sent, /^fds_/, "asked for with the secret, which an image's own request does not have");
});

test("a long output is folded, and all of it comes when asked for", async () => {
  const { page } = await pageWith("tool 100000");
  const block = blocks(page, "Tool");
  await block.locator(".message-block-header").click();
  const button = block.locator(".show-all");
  await waitForText(button, /Show all 2,\d{3} lines/);
  const lines = () => block.locator(".tool-output pre").evaluate((element) => element.textContent.split("\n").length);
  assert.ok((await lines()) <= 402);
  await button.click();
  await waitFor(async () => (await lines()) > 2000, "all lines");
  assert.equal(await block.locator(".show-all").count(), 0);
});

test("a block of a million characters does not stop the page", async () => {
  const { page } = await pageWith("many 20000 0 60");
  await waitForText(blocks(page, "Message").locator(".render-note, .rendered-content pre, .rendered-content p").first(), /./);
  await turn(page, "hello");
  await waitForText(rendered(page, "Message"), /Hello from the demo/);
});

test("when rendering fails the text is there, and the next try renders it", async () => {
  deck.expectConsoleErrors(/500/);
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await page.route(/\/block\//, (route) => route.fulfill({ status: 500, json: { error: "RenderingFailed", message: "no" } }));
  await turn(page, "markdown");
  const block = blocks(page, "Message");
  // The text is there before the block is to be rendered; this says that rendering has failed.
  await waitForText(block.locator(".message-block-raw"), "Markdown");
  await waitForText(block.locator(".message-block-text"), /^# Demo of Markdown/);
  await page.unroute(/\/block\//);
  await block.locator(".message-block-raw").click();
  await rendered(page, "Message").locator("h1").waitFor();
});

test("malformed Markdown is shown somehow, and the session goes on", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  const odd = "``` \n[a](b <i> | | \n|-|\n> > > # ~~~\n\u0000\u202e <!-- ]]> &#0; &lt";
  await turn(page, odd);
  await waitForText(rendered(page, "Message"), /demo agent/);
  assert.equal(await blocks(page, "User").evaluate(async (element) => (await import("/messageBlock.js")).getMessageBlock(element).data), odd);
  await turn(page, "hello");
});
