// What is written and not sent yet: it outlasts the way to other sessions whatever the browser keeps, and the page says what a
// reload would lose.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession, openSetup, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const TOO_LONG = /^This draft is too long to survive a reload\./;
const textarea = (page) => page.locator("#request-textarea");
const note = (page) => page.locator("#draft-note");
const length = (box) => box.evaluate(({ value }) => value.length);

/** Pastes a text of that many letters. */
async function paste(box, letters) {
  await box.focus();
  await box.evaluate((element, text) => {
    element.value = text;
    element.dispatchEvent(new Event("input"));
  }, "x".repeat(letters));
}

/** Goes to a session by way of the home page, as people do. */
async function goTo(page, id) {
  await page.keyboard.press("Alt+h");
  await page.locator(`.session-row[data-session="${id}"] a`).first().click();
  await page.waitForURL((url) => url.searchParams.get("session") === id);
  await shown(page);
}

test("a draft too long for the storage is there after a visit to another session, and the page says what a reload does", async () => {
  const [one, other] = [await deck.server.session(), await deck.server.session()];
  const page = await openSession(deck, one);
  await textarea(page).fill("an older draft");
  assert.ok(await note(page).isHidden());
  await paste(textarea(page), 300_000);
  await waitForText(note(page), TOO_LONG);
  await goTo(page, other);
  assert.equal(await length(textarea(page)), 0);
  assert.ok(await note(page).isHidden(), "the other session has no such draft");
  await goTo(page, one);
  assert.equal(await length(textarea(page)), 300_000);
  await waitForText(note(page), TOO_LONG);
  await page.reload();
  await shown(page);
  assert.equal(await textarea(page).inputValue(), "", "neither the long draft nor the older one");
  assert.ok(await note(page).isHidden());
});

test("a draft that becomes short enough survives a reload again, and nothing more is said", async () => {
  const page = await openSession(deck, await deck.server.session());
  await paste(textarea(page), 300_000);
  await waitForText(note(page), TOO_LONG);
  await textarea(page).fill("short again");
  assert.ok(await note(page).isHidden());
  await page.reload();
  await waitFor(async () => (await textarea(page).inputValue()) === "short again", "the draft");
});

test("a full storage loses no draft on the way to another session, and does not bring an older one back", async () => {
  const [one, other] = [await deck.server.session(), await deck.server.session()];
  const page = await openSession(deck, one);
  await textarea(page).fill("an older draft");
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
    };
  });
  await textarea(page).fill("a newer draft");
  await waitForText(note(page), /^This browser's storage is full\. This draft will not survive a reload\./);
  await goTo(page, other);
  await goTo(page, one);
  assert.equal(await textarea(page).inputValue(), "a newer draft");
  await page.reload();
  await shown(page);
  assert.equal(await textarea(page).inputValue(), "");
});

test("the prompt of a new session that is too long for the storage says so", async () => {
  const page = await openSetup(deck);
  await paste(page.locator("#prompt-box"), 300_000);
  await waitForText(page.locator("#prompt-draft-note"), TOO_LONG);
  await page.locator("#prompt-box").fill("short");
  await page.locator("#prompt-draft-note").waitFor({ state: "hidden" });
});

test("the unsent text of a deleted session that is too long for the storage says so", async () => {
  deck.expectConsoleErrors(/404/);
  const id = await deck.server.session();
  const page = await openSession(deck, id);
  await paste(textarea(page), 300_000);
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await waitForText(page.locator(".unsent-text .draft-note"), TOO_LONG);
  await page.getByRole("button", { name: "Start a new session with it" }).click();
  await page.locator("#prompt-box").waitFor();
  assert.equal(await length(page.locator("#prompt-box")), 300_000);
  await waitForText(page.locator("#prompt-draft-note"), TOO_LONG);
});
