// The settings page while it loads: nothing moves when the answers of the server come.

import assert from "node:assert/strict";
import test from "node:test";
import { painted, useDeck, waitForText } from "./support/index.mjs";

const SECTIONS = ["agents", "models", "mcp", "permissions", "budgets", "notifications", "tokens", "sessions", "jobs", "server"];

const deck = useDeck({ config: "[acp.mine]\ncommand = '/no/such/agent'\n[runtimes.'acp:gone']\nmodel = 'x'\n" });

/** Notes what moves among the settings, from the first paint on. */
function watchShifts(context) {
  return context.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
      const moved = list.getEntries().flatMap(({ sources }) => [...sources]).filter(({ node }) => document.getElementById("main").contains(node));
      window.shifts.push(...moved.map(({ node, previousRect, currentRect }) => `${node.id || node.className || node.nodeName}: ${previousRect.y} -> ${currentRect.y}`));
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** Holds back what a pattern matches until the function that it returns is called. */
async function hold(context, pattern) {
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await context.route(pattern, (route) => held.then(() => route.continue()));
  return release;
}

for (const [name, options] of [["desktop", { viewport: { width: 1280, height: 2000 } }], ["phone", { viewport: { width: 390, height: 3000 }, hasTouch: true, isMobile: true }]]) {
  test(`nothing moves while the settings load, on a ${name}`, async () => {
    const context = await deck.openContext(options);
    await watchShifts(context);
    for (const section of SECTIONS) {
      const page = await context.newPage();
      const settings = await hold(page, /\/api\/settings$/);
      const rest = await hold(page, /\/api\/(runtimes|models|usage|tokens|folder-rules|notifications)(\?|$)/);
      await page.goto(`${deck.server.url}/settings.html#${section}`);
      await waitForText(page.locator(`#section-${section} .empty`), "Loading …");
      await page.locator("#inbox-button:enabled").waitFor();
      await painted(page);
      settings();
      await page.locator(`#section-${section}[data-built]`).waitFor();
      await painted(page);
      rest();
      await page.waitForFunction((id) => !document.querySelector(`#section-${id} [aria-busy="true"]`) && !/Loading …/.test(document.getElementById(`section-${id}`).innerText), section);
      await painted(page);
      assert.deepEqual(await page.evaluate(() => window.shifts), [], section);
      await page.close();
    }
  });
}
