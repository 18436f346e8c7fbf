// What happens while no tab reads the stream of the inbox: the server is away, or another tab takes over.

import assert from "node:assert/strict";
import { test } from "node:test";
import { useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const request = (requestId) => ({ requestId, kind: "permission", headline: `Run ${requestId}` });
const session = (sessionId, state, pending = []) => ({ sessionId, title: sessionId, state, pending, unread: false, failed: false });
const job = (jobId, status, waiting = []) => ({ jobId, jobName: jobId, status, waiting });
const frames = (entries) => `${entries.map((entry) => `data: ${JSON.stringify(entry)}\n\n`).join("")}event: current\ndata: {}\n\n`;

/**
 * Tabs of one person who wants notifications. Their stream ends after the latest states, so that each reading comes after a gap:
 * `stream.entries` is what the server says, `stream.count` how often it was asked.
 */
async function openTabs(entries) {
  const context = await deck.openContext();
  await context.addInitScript(() => {
    window.notified = [];
    window.Notification = class {
      static permission = "granted";
      constructor(title) {
        window.notified.push(title);
      }
    };
    // The empty page before the first one has no storage.
    if (location.protocol !== "about:") localStorage.setItem("flightdeck.notifications", "on");
  });
  const stream = { entries, count: 0 };
  await context.route(/\/api\/events$/, (route) => {
    stream.count += 1;
    return route.fulfill({ contentType: "text/event-stream", body: frames(stream.entries) });
  });
  return { context, stream };
}

async function openTab(context) {
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#inbox-button:enabled").waitFor();
  return page;
}

const notified = (page) => page.evaluate(() => window.notified);

/** Waits until the stream was read to its end twice more: what was said before has been handled. */
async function twoMore(stream) {
  const wanted = stream.count + 3;
  await waitFor(() => stream.count >= wanted, "the next readings");
}

test("what came to need a person during a gap is notified once; what a page finds at first is not", async () => {
  const { context, stream } = await openTabs([session("session-1", "waiting", [request("request-1")]), session("session-2", "working"), job("job-1", "Running")]);
  const page = await openTab(context);
  await waitForText(page.locator("#inbox-count"), "1");
  await twoMore(stream);
  assert.deepEqual(await notified(page), []);
  stream.entries = [
    session("session-1", "waiting", [request("request-1"), request("request-2")]),
    session("session-2", "ready"),
    session("session-3", "waiting", [request("request-1")]),
    session("session-4", "ready"),
    job("job-1", "Running", [{ waitingId: "waiting-1", kind: "gate", title: "Go on?", since: new Date().toISOString() }]),
  ];
  await waitForText(page.locator("#inbox-count"), "4");
  await twoMore(stream);
  assert.deepEqual((await notified(page)).toSorted(), ["job-1 needs your input", "session-1 needs your input", "session-2 finished", "session-3 needs your input"]);
});

test("a session that the server mentions later than the others after a restart is no news", async () => {
  const all = [session("session-1", "waiting", [request("request-1")]), session("session-2", "ready")];
  const { context, stream } = await openTabs(all);
  const page = await openTab(context);
  await waitForText(page.locator("#inbox-count"), "1");
  stream.entries = all.slice(1);
  await page.locator("#inbox-count").waitFor({ state: "hidden" });
  stream.entries = all;
  await waitForText(page.locator("#inbox-count"), "1");
  await twoMore(stream);
  assert.deepEqual(await notified(page), []);
});

test("what is over or deleted after a gap leaves the count and the inbox, also when nothing is left", async () => {
  // The inbox asks for the log of a session that is only in the stream.
  deck.expectConsoleErrors(/404/);
  const { context, stream } = await openTabs([session("session-1", "waiting", [request("request-1")]), session("session-2", "ready")]);
  const page = await openTab(context);
  const other = await openTab(context);
  for (const tab of [page, other]) await waitFor(async () => (await tab.title()) === "(1) Flightdeck", "the count");
  await page.locator("#inbox-button").click();
  await waitFor(async () => (await page.locator(".inbox-entry").count()) === 2, "the entries");
  stream.entries = [];
  for (const tab of [page, other]) await waitFor(async () => (await tab.title()) === "Flightdeck", "nothing waits");
  await waitForText(page.locator(".side-panel-body"), /No open sessions/);
});

test("a tab that takes over notifies of what happened in between, and of nothing that the other tab has notified", async () => {
  const { context, stream } = await openTabs([session("session-1", "working"), session("session-2", "working")]);
  const [first, second] = [await openTab(context), await openTab(context)];
  await waitFor(() => stream.count > 2, "the first states");
  stream.entries = [session("session-1", "waiting", [request("request-1")]), session("session-2", "working")];
  await waitForText(second.locator("#inbox-count"), "1");
  await waitFor(async () => (await notified(first)).length === 1, "the notification");
  // Nothing more is said until the first tab is gone.
  let release;
  const gone = new Promise((resolve) => {
    release = resolve;
  });
  await context.route(/\/api\/events$/, async (route) => {
    await gone;
    // The reading of the first tab has gone with it.
    await route.fulfill({ contentType: "text/event-stream", body: frames(stream.entries) }).catch(() => {});
  });
  stream.entries = [session("session-1", "waiting", [request("request-1")]), session("session-2", "waiting", [request("request-1")])];
  await first.close();
  release();
  await waitForText(second.locator("#inbox-count"), "2");
  await waitFor(async () => (await notified(second)).length > 0, "the notification");
  assert.deepEqual(await notified(second), ["session-2 needs your input"]);
});

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
