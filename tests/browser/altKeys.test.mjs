// Shortcuts with Alt, and the characters that keyboards write with Alt or Option.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, useDeck } from "./support/index.mjs";

const deck = useDeck();

async function openPage(address, { platform }) {
  const context = await deck.openContext();
  await context.addInitScript((platform) => Object.defineProperty(navigator, "platform", { get: () => platform }), platform);
  const page = await context.newPage();
  await page.goto(deck.server.url + address);
  await page.locator("#inbox-button:enabled").waitFor();
  if (address.includes("session=")) await shown(page);
  // Fields of their own: what a page does with other keys in its fields is not the point.
  await page.evaluate(() => document.body.append(Object.assign(document.createElement("input"), { id: "written" })));
  return page;
}

/** Presses Alt and a key in an element. Returns whether the page treated it as a shortcut. */
function takes(page, selector, code, key, more = {}) {
  return page.evaluate(([selector, code, key, more]) => {
    const event = new KeyboardEvent("keydown", { altKey: true, bubbles: true, cancelable: true, code, key, ...more });
    return !document.querySelector(selector).dispatchEvent(event);
  }, [selector, code, key, more]);
}

for (const name of ["session", "settings"]) {
  const address = async () => (name === "session" ? `/?session=${await deck.server.session()}` : "/settings.html");

  test(`on a Mac, characters that Option writes stay in the text field (${name})`, async () => {
    const page = await openPage(await address(), { platform: "MacIntel" });
    // German "@" and "~", Polish "ł" and "ń", a dead key.
    for (const [code, key] of [["KeyL", "@"], ["KeyN", "~"], ["KeyL", "ł"], ["KeyN", "ń"], ["KeyL", "Ł"], ["KeyI", "Dead"]]) {
      assert.equal(await takes(page, "#written", code, key), false, `${code} ${key}`);
      assert.equal(await takes(page, "body", code, key), true, `${code} ${key} outside of text fields`);
    }
    assert.equal(await takes(page, "#written", "KeyL", "l"), true, "a keyboard that writes the plain letter");
  });

  test(`elsewhere, Alt is for shortcuts in text fields too, with any layout, and AltGr writes (${name})`, async () => {
    const page = await openPage(await address(), { platform: "Linux x86_64" });
    // Latin and Russian letters; the key is named by its place.
    for (const key of ["l", "L", "д", "n"]) assert.equal(await takes(page, "#written", "KeyL", key), true, key);
    assert.equal(await takes(page, "#written", "KeyL", "ł", { modifierAltGraph: true }), false);
    assert.equal(await takes(page, "#written", "KeyL", "Dead"), false);
  });
}
