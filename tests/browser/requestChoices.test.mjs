// The decisions of a permission: each with what belongs to it, at every width.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStub, openSession, painted, send, shown, useDeck, waitForText } from "./support/index.mjs";

const deck = useDeck();

const REQUEST = { callback: "onPermissionRequested", requestId: "request-1", kind: "shell", title: "run a command", detail: "npm run build", covers: ["call", "prefix", "tool"], prefix: "npm run", options: ["allow-once", "allow-always", "deny"] };

test("Always allow and its scopes are one group, Deny and its note another, with and without a panel", async () => {
  const id = await deck.server.session();
  const context = await deck.openContext({ viewport: { width: 1440, height: 900 } });
  await LogStub.use({ deck, context, id, responses: [{ callback: "onUserPrompt", promptId: "prompt-1", text: "go", queued: false }, { callback: "onAgentStart", turnId: "turn-1" }, REQUEST], details: { state: "waiting" } });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  const card = page.locator(".request-block.waiting");
  await card.waitFor();
  const check = async (what) => {
    const names = ["decision-allow-always", "request-scope", "request-scope-place", "decision-deny", "request-feedback"];
    // All at one moment: the transcript may scroll in between, so that its end stays in view.
    await painted(page);
    const boxes = await card.evaluate((one, names) => Object.fromEntries(names.map((name) => [name, one.querySelector(`.${name}`).getBoundingClientRect().toJSON()])), names);
    const middle = ({ y, height }) => y + height / 2;
    const inRow = (one, other) => Math.abs(middle(boxes[one]) - middle(boxes[other])) < 6;
    const isColumn = boxes["request-scope"].x === boxes["request-scope-place"].x;
    assert.ok(inRow("decision-allow-always", "request-scope"), `${what}: the scope is beside Always allow`);
    if (!isColumn) assert.ok(inRow("decision-allow-always", "request-scope-place"), `${what}: the place is beside Always allow`);
    assert.ok(inRow("decision-deny", "request-feedback"), `${what}: the note is beside Deny`);
    assert.ok(inRow("decision-allow-always", "decision-deny") || !inRow("request-scope-place", "decision-deny"), `${what}: the place is not beside Deny`);
    assert.ok(await card.locator(".request-choices").evaluate((one) => one.scrollWidth <= one.clientWidth), `${what}: nothing is cut off`);
    for (const name of names.slice(1, 3)) assert.ok(boxes[name].width >= 96, `${what}: ${name} is ${boxes[name].width} px wide`);
  };
  const widths = [1700, 1440, 1366, 1280, 1180, 1024, 920];
  for (const width of [...widths, 760, 660, 480, 390, 320]) {
    await page.setViewportSize({ width, height: 900 });
    await check(`${width} px`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.locator("#details-button").click();
  await page.locator("#side-panel").waitFor();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await check(`${width} px, beside a panel`);
  }
});

test("Enter that ends the composition of a word sends no answer", async () => {
  const page = await openSession(deck, await deck.server.session());
  await send(page, "permission");
  const note = page.locator(".request-block.waiting .request-feedback");
  await note.fill("こ");
  const answers = [];
  page.on("request", (request) => request.url().includes("/permission/") && answers.push(request.postData()));
  await note.evaluate((input) => input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true })));
  assert.deepEqual(answers, []);
  await note.press("Enter");
  await waitForText(page.locator(".request-block").first(), /^Denied/);
  assert.equal(answers.length, 1);
});
