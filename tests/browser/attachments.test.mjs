// Attachments stay visible in the sent prompt, also after a reload.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, checkAccessibility, openSession, send, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

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
  // The tab may be there before the file is.
  await waitForText((await opened).locator("body"), /a note/);
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

const textFile = (name) => ({ name, mimeType: "text/plain", buffer: Buffer.from(name) });
const names = (page) => page.locator("#attachment-list .attachment-name").allTextContents();

/** Goes to a session by way of the home page, as people do. */
async function goTo(page, id) {
  await page.keyboard.press("Alt+h");
  await page.locator(`.session-row[data-session="${id}"] a`).first().click();
  await page.waitForURL((url) => url.searchParams.get("session") === id);
  await shown(page);
}

/** Holds the sending of prompts to a session until `release()`; `bodies` are what was sent. */
async function holdPrompts(page, id, answer = (route) => route.continue()) {
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  const bodies = [];
  await page.route(`**/session/${id}/prompt`, async (route) => {
    bodies.push(route.request().postDataJSON());
    await released;
    await answer(route);
  });
  return { bodies, release };
}

test("files stay with their session on the way to another one, and go along when it is sent", async () => {
  const [one, other] = [await deck.server.session(), await deck.server.session()];
  const page = await openSession(deck, one);
  await attach(page, [textFile("a.txt"), textFile("b.txt")]);
  await page.locator("#request-textarea").fill("hello with files");
  await goTo(page, other);
  assert.deepEqual(await names(page), []);
  assert.ok(await page.locator("#attachment-list").isHidden());
  await goTo(page, one);
  await waitFor(async () => (await names(page)).join() === "a.txt,b.txt", "the files");
  await page.getByRole("button", { name: "Remove a.txt" }).click();
  const asked = page.waitForRequest(/\/prompt$/);
  await page.locator("#request-textarea").press("Control+Enter");
  assert.deepEqual((await asked).postDataJSON().attachments.map(({ name }) => name), ["b.txt"]);
  await waitFor(async () => (await names(page)).length === 0, "the files to go");
  await goTo(page, other);
  await goTo(page, one);
  assert.deepEqual(await names(page), [], "what was sent does not come back");
});

test("a file that is added while the request is being sent stays for the next one", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  const { bodies, release } = await holdPrompts(page, id);
  await attach(page, [textFile("a.txt")]);
  await send(page, "hello");
  await waitFor(() => bodies.length === 1, "the request");
  await page.locator("#attach-input").setInputFiles([textFile("late.txt")]);
  await waitFor(async () => (await names(page)).join() === "a.txt,late.txt", "the late file");
  release();
  await waitFor(async () => (await names(page)).join() === "late.txt", "the sent file to go");
  assert.deepEqual(bodies[0].attachments.map(({ name }) => name), ["a.txt"]);
});

test("a request that is accepted after the person went to another session changes nothing there", async () => {
  const [one, other] = [await deck.server.session(), await deck.server.session()];
  const page = await openSession(deck, one);
  const { bodies, release } = await holdPrompts(page, one);
  await attach(page, [textFile("a.txt")]);
  await send(page, "hello");
  await waitFor(() => bodies.length === 1, "the request");
  await goTo(page, other);
  await attach(page, [textFile("of the other.txt")]);
  await page.locator("#request-textarea").fill("hello, written in the other one");
  const accepted = page.waitForResponse(/\/prompt$/);
  release();
  await (await accepted).finished();
  await waitFor(async () => (await page.evaluate(() => Object.values(localStorage))).every((text) => text !== "hello"), "the draft that was sent to go");
  assert.equal(await page.locator("#request-textarea").inputValue(), "hello, written in the other one");
  assert.deepEqual(await names(page), ["of the other.txt"]);
  await goTo(page, one);
  assert.equal(await page.locator("#request-textarea").inputValue(), "");
  assert.deepEqual(await names(page), []);
  await goTo(page, other);
  assert.equal(await page.locator("#request-textarea").inputValue(), "hello, written in the other one");
});

test("a request that is refused after the person went to another session is said there as another's, and in its own", async () => {
  deck.expectConsoleErrors(/507/);
  const [one, other] = [await deck.server.session(), await deck.server.session()];
  const page = await openSession(deck, one);
  const { bodies, release } = await holdPrompts(page, one, (route) => route.fulfill({ status: 507, json: { error: "StorageFull", message: "The disk is full." } }));
  await attach(page, [textFile("a.txt")]);
  await send(page, "hello");
  await waitFor(() => bodies.length === 1, "the request");
  await goTo(page, other);
  release();
  await waitForText(page.locator("#request-problem"), "In another session: Not sent: The disk is full.");
  await goTo(page, one);
  await waitForText(page.locator("#request-problem"), "Not sent: The disk is full.");
  assert.equal(await page.locator("#request-textarea").inputValue(), "hello");
  await waitFor(async () => (await names(page)).join() === "a.txt", "the file");
});

test("files that are attached to a session that is deleted elsewhere are named as not sent", async () => {
  deck.expectConsoleErrors(/404/);
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await attach(page, [textFile("a.txt"), textFile("b.txt")]);
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await waitForText(page.locator("#closed-part"), /The attached files were not sent: a\.txt, b\.txt\./);
});

test("files of a session that is deleted while it is not shown are dropped", async () => {
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await attach(page, [textFile("a.txt")]);
  await page.keyboard.press("Alt+h");
  const row = page.locator(`.session-row[data-session="${id}"]`);
  await row.waitFor();
  const details = await deck.server.call("GET", `copilot/session/${id}`);
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await row.waitFor({ state: "detached" });
  // For the page the session is there again: it would show what it still had.
  await page.route(`**/session/${id}`, (route) => route.fulfill({ json: { ...details, state: "closed" } }));
  await page.route(`**/session/${id}/log?*`, (route) => route.fulfill({ json: { events: [] } }));
  await page.goBack();
  await shown(page);
  await page.locator("#reopen-button").waitFor();
  assert.deepEqual(await names(page), []);
});

test("a sent file that cannot be opened says so beside it, until it can", async () => {
  deck.expectConsoleErrors(/503/);
  const page = await openSession(deck, await deck.server.session());
  await attach(page, [textFile("a.txt")]);
  await send(page, "hello");
  await page.locator(".turn-end").waitFor();
  await page.route("**/api/ticket", (route) => route.fulfill({ status: 503, json: { error: "Busy", message: "No room." } }), { times: 2 });
  const open = page.getByRole("button", { name: /^Open a\.txt/ });
  const problem = page.locator('.sent-attachments [role="alert"]');
  await open.click();
  await waitForText(problem, "Could not open a.txt: No room.");
  const asked = page.waitForResponse("**/api/ticket");
  await open.click();
  await asked;
  await waitForText(problem, "Could not open a.txt: No room.");
  const opened = page.context().waitForEvent("page");
  await open.click();
  await opened;
  await problem.waitFor({ state: "detached" });
});
