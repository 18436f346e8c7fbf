// What happens while no tab reads the stream of the inbox: the server is away, or another tab takes over.

import assert from "node:assert/strict";
import { test } from "node:test";
import { useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

async function openTab(context) {
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#inbox-button:enabled").waitFor();
  return page;
}

test("a server that stays away is asked less and less often, at once when somebody looks, and no listener is left behind", async () => {
  deck.expectConsoleErrors(/503/);
  const context = await deck.openContext();
  await context.addInitScript(() => {
    // How many listeners there are for what ends a pause.
    window.listeners = { abort: 0, visibilitychange: 0, online: 0 };
    const { addEventListener, removeEventListener } = EventTarget.prototype;
    EventTarget.prototype.addEventListener = function (type, ...rest) {
      if (type in window.listeners) window.listeners[type] += 1;
      return addEventListener.call(this, type, ...rest);
    };
    EventTarget.prototype.removeEventListener = function (type, ...rest) {
      if (type in window.listeners) window.listeners[type] -= 1;
      return removeEventListener.call(this, type, ...rest);
    };
  });
  let count = 0;
  await context.route(/\/api\/events$/, (route) => {
    count += 1;
    return route.fulfill({ status: 503, json: { error: "Away", message: "Away." } });
  });
  await context.clock.install();
  const page = await openTab(context);
  await waitForText(page.locator("#connection-status"), /not responding/);
  const another = await openTab(context);
  await waitForText(another.locator("#connection-status"), /not responding/);
  await context.clock.pauseAt(new Date(Date.now() + 60_000));
  /** Lets time pass until the server is asked again. Gives how long that took. */
  const pause = async () => {
    const asked = count;
    const from = await page.evaluate(() => Date.now());
    await waitFor(async () => {
      await context.clock.runFor(500);
      return count > asked;
    }, "the next attempt");
    return (await page.evaluate(() => Date.now())) - from;
  };
  /** Waits until the page has heard the refusal and pauses. Gives its listeners. */
  const pausing = async () => {
    await waitFor(() => page.evaluate(() => window.listeners.online > 0), "the pause");
    return page.evaluate(() => window.listeners);
  };
  const listeners = await pausing();
  const pauses = [];
  for (let attempt = 0; attempt < 6; attempt += 1) pauses.push(await pause());
  assert.ok(pauses.at(-1) > 10_000, `${pauses}`);
  assert.deepEqual(await pausing(), listeners, "no listener is left behind");
  // No time passes from here on.
  for (const [tab, target, type] of [[page, "document", "visibilitychange"], [page, "window", "online"], [another, "document", "visibilitychange"]]) {
    await pausing();
    const asked = count;
    await tab.evaluate(([target, type]) => globalThis[target].dispatchEvent(new Event(type)), [target, type]);
    await waitFor(() => count > asked, `the attempt on ${type}`);
  }
});
