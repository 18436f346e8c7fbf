// Attachments stay visible in the sent prompt, also after a reload.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, checkAccessibility, openSession, send, useDeck, waitFor } from "./support/index.mjs";

const deck = useDeck();
/** A picture of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function attach(page, files) {
  await page.locator("#attach-input").setInputFiles(files);
  await waitFor(async () => (await page.locator(".attachment").count()) === files.length, "the attachments");
}

test("files are chips and images are thumbnails in the prompt, after a reload too", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await attach(page, [
    { name: "notes <b>.txt", mimeType: "text/plain", buffer: Buffer.from("a note") },
    { name: "pixel.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") },
    { name: "broken.png", mimeType: "image/png", buffer: Buffer.from("no picture") },
    { name: "page.html", mimeType: "text/html", buffer: Buffer.from("<script>alert(1)</script>") },
  ]);
  await send(page, "hello with files");
  await page.locator(".turn-end").waitFor();
  const shown = async () => {
    const prompt = blocks(page, "User");
    await waitFor(async () => (await prompt.locator(".sent-attachment").count()) === 4, "the attachments of the prompt");
    assert.deepEqual(await prompt.locator(".attachment-name").allTextContents(), ["notes <b>.txt", "pixel.png", "broken.png", "page.html"]);
    await waitFor(() => prompt.locator(".sent-image img").first().evaluate((image) => image.naturalWidth === 1), "the thumbnail");
    await waitFor(async () => (await prompt.locator(".sent-image").count()) === 1, "what is no picture is a chip");
  };
  await shown();
  await checkAccessibility(page, "attachments");
  await page.reload();
  await shown();
  const opened = page.context().waitForEvent("page");
  await page.getByRole("button", { name: /^Open notes/ }).click();
  const file = await opened;
  await file.waitForLoadState();
  assert.match(await file.locator("body").textContent(), /a note/);
});

test("a prompt with nothing but attachments shows them, queued ones too", async () => {
  const page = await openSession(deck, await deck.server.session());
  await send(page, "permission");
  await page.locator(".request-choice").first().waitFor();
  await attach(page, [{ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") }]);
  await page.locator("#queue-button").click();
  await waitFor(async () => (await page.locator(".queued-files").textContent()) === "+1", "the queued attachment");
  assert.equal(await page.locator(".queued-text").textContent(), "(attachments)");
  await page.locator(".sent-attachment").waitFor();
});
