// The list of sessions: states, search, reopen, rename, delete.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSetup, painted, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { ENTRY, jobWhen, makeFolder, startJob } from "./support/realJobs.mjs";

const deck = useDeck({ jobs: ENTRY });

const row = (page, id) => page.locator(`.session-row[data-session="${id}"]`);

test("sessions show what they are doing, as it happens", async () => {
  const page = await openSetup(deck);
  const id = await deck.server.session({ title: "Watch me" });
  await waitForText(row(page, id).locator(".session-link"), "Watch me");
  await waitForText(row(page, id).locator(".state-word"), /Ready|Starting/);
  await deck.server.call("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  await waitForText(row(page, id).locator(".state-word"), "Needs your input");
  const [state, title] = await Promise.all([".state-word", ".session-link"].map((part) => row(page, id).locator(part).boundingBox()));
  assert.ok(state.x + state.width < title.x, "the longest word does not reach the title");
  await deck.server.call("POST", `copilot/session/${id}/stop`);
  await waitForText(row(page, id).locator(".state-word"), "Closed");
  assert.equal(await row(page, id).locator("a").getAttribute("href"), `?session=${id}`);
});

/** The home page whose list of sessions, as it was, comes when `release` is called; one session asks for something. */
async function heldList() {
  const asking = await deck.server.session({ title: "Asking" });
  await deck.server.call("POST", `copilot/session/${asking}/prompt`, { text: "permission" });
  const context = await deck.openContext();
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  let isRead = false;
  await context.route(/\/api\/copilot\/session\?limit=/, async (route) => {
    const response = await route.fetch();
    isRead = true;
    await released;
    await route.fulfill({ response });
  });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitFor(() => isRead, "the list");
  const count = page.locator("#inbox-count");
  await waitForText(count, "1");
  return { page, release, asking, count };
}

test("a session that is deleted while the list is on its way does not come back", async () => {
  const stays = await deck.server.session({ title: "Stays" });
  const { page, release, asking, count } = await heldList();
  await deck.server.api("DELETE", `copilot/session/${asking}`);
  await count.waitFor({ state: "hidden" });
  release();
  await row(page, stays).waitFor();
  assert.equal(await row(page, asking).count(), 0);
});

test("a session that is created while the list is on its way is in it", async () => {
  const { page, release, asking, count } = await heldList();
  const created = await deck.server.session({ title: "Created meanwhile" });
  await deck.server.call("POST", `copilot/session/${created}/prompt`, { text: "permission" });
  await waitForText(count, "2");
  release();
  await row(page, asking).waitFor();
  await row(page, created).waitFor();
  for (const id of [asking, created]) await deck.server.call("POST", `copilot/session/${id}/stop`);
});

test("the filter finds by title, folder, model and state", async () => {
  const apple = await deck.server.session({ title: "Apple pie" });
  const pear = await deck.server.session({ title: "Pear tart", model: "demo-slow" });
  await deck.server.call("POST", `copilot/session/${pear}/stop`);
  const page = await openSetup(deck);
  await row(page, apple).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("apple");
  await row(page, pear).waitFor({ state: "detached" });
  assert.ok(await row(page, apple).isVisible());
  await page.locator("#session-search").fill("demo-slow tart");
  await row(page, apple).waitFor({ state: "detached" });
  assert.ok(await row(page, pear).isVisible());
  await page.locator("#session-search").fill("no such thing");
  await waitForText(page.locator("#session-list"), /No matching sessions/);
  await page.locator("#session-search").fill("");
  await page.locator('[data-filter="closed"]').click();
  await row(page, apple).waitFor({ state: "detached" });
  assert.ok(await row(page, pear).isVisible());
  assert.equal(await page.locator('[data-filter="closed"]').getAttribute("aria-pressed"), "true");
});

test("steps of jobs have a list of their own, unless they need somebody or are searched", async () => {
  const own = await deck.server.session({ title: "My own" });
  const page = await openSetup(deck);
  await row(page, own).waitFor();
  const steps = page.locator('[data-filter="steps"]');
  assert.ok(await steps.isHidden(), "there are none");
  const jobId = await startJob(deck.server, "permission", { workingDirectory: await makeFolder(deck.server) });
  const ofJob = page.locator(".session-row", { has: page.locator(".session-job") });
  await waitForText(ofJob.locator(".state-word"), "Needs your input");
  const asking = await ofJob.getAttribute("data-session");
  const { requests } = await deck.server.call("GET", `copilot/session/${asking}`);
  await deck.server.call("POST", `copilot/session/${asking}/permission/${requests[0].requestId}`, { decision: "allow-once" });
  await jobWhen(deck.server, jobId, ({ status }) => status === "Succeeded");
  await waitFor(async () => (await ofJob.count()) === 0, "the steps to leave the list");
  assert.ok(await row(page, own).isVisible());
  await steps.click();
  await waitFor(async () => (await ofJob.count()) === 2, "both steps");
  assert.ok(await row(page, own).isHidden());
  await page.locator('[data-filter="all"]').click();
  await page.locator("#session-search").fill("ask-first");
  await row(page, asking).waitFor();
});

test("a session is renamed, and the new name is everywhere", async () => {
  const id = await deck.server.session({ title: "Old name" });
  const page = await openSetup(deck);
  await row(page, id).getByRole("button", { name: "Rename Old name" }).click();
  const input = page.locator("dialog input");
  assert.equal(await input.inputValue(), "Old name");
  await input.fill("New name");
  await page.keyboard.press("Enter");
  await waitForText(row(page, id).locator(".session-link"), "New name");
  assert.equal((await deck.server.call("GET", `copilot/session/${id}`)).title, "New name");
});

test("a closed session is reopened under the same id", async () => {
  const id = await deck.server.session({ title: "Once more" });
  await deck.server.turn(id, "hello");
  await deck.server.call("POST", `copilot/session/${id}/stop`);
  const page = await openSetup(deck);
  await row(page, id).getByRole("button", { name: "Reopen" }).click();
  await shown(page);
  assert.equal(new URL(page.url()).searchParams.get("session"), id);
  await waitFor(() => page.locator("#send-button").isVisible(), "the request part");
  assert.notEqual((await deck.server.call("GET", `copilot/session/${id}`)).state, "closed");
});

test("deleting asks first, with the safe choice at hand", async () => {
  const id = await deck.server.session({ title: "Not for long" });
  const page = await openSetup(deck);
  const remove = row(page, id).getByRole("button", { name: "Delete" });
  await remove.click();
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await deck.server.api("GET", `copilot/session/${id}`)).status, 200, "Enter keeps it");
  await remove.click();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await deck.server.api("GET", `copilot/session/${id}`)).status, 200, "Escape keeps it");
  await remove.click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await row(page, id).waitFor({ state: "detached" });
  assert.equal((await deck.server.api("GET", `copilot/session/${id}`)).status, 404);
});

test("a session that somebody else deletes disappears", async () => {
  const id = await deck.server.session({ title: "Short life" });
  const page = await openSetup(deck);
  await row(page, id).waitFor();
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await row(page, id).waitFor({ state: "detached" });
});

test("200 changes that come together are shown together, and only changed rows are rebuilt", async () => {
  const MANY = 200;
  const ids = Array.from({ length: MANY }, (_, index) => `session-${index + 1}`);
  const context = await deck.openContext();
  // Another tab reads the stream: what it tells this one is up to the test.
  const listener = await context.newPage();
  await listener.goto(`${deck.server.url}/test.html`);
  await listener.evaluate(
    () =>
      new Promise((held) => {
        navigator.locks.request("flightdeck-inbox", () => {
          held();
          return new Promise(() => {});
        });
        window.channel = new BroadcastChannel("flightdeck-inbox");
      }),
  );
  await context.route(/\/api\/copilot\/session\?/, (route) =>
    route.fulfill({ json: { sessions: ids.map((sessionId, index) => ({ sessionId, title: `Before ${sessionId}`, state: "ready", model: "demo", workingDirectory: "/w", updatedAt: new Date(1e12 - index).toISOString(), pending: 0 })) } }),
  );
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(deck.server.url);
  await row(page, ids.at(-1)).waitFor();
  await page.locator("#inbox-button:enabled").waitFor();
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  await page.evaluate(() => {
    window.made = 0;
    new MutationObserver((records) => {
      window.made += records.flatMap(({ addedNodes }) => [...addedNodes]).flatMap((node) => [node, ...(node.querySelectorAll?.("*") ?? [])]).filter((node) => node.matches?.(".session-row")).length;
    }).observe(document.querySelector("#session-list"), { childList: true, subtree: true });
  });
  const tell = (changed, title) =>
    listener.evaluate(([changed, title]) => changed.forEach((sessionId, index) => window.channel.postMessage({ kind: "entry", entry: { sessionId, title: `${title} ${sessionId}`, state: "ready", pending: index === changed.length - 1 ? [{ requestId: "request-1", kind: "question", headline: "?" }] : [], workingDirectory: "/w" } })), [changed, title]);

  await tell(ids, "After");
  await page.waitForFunction(() => document.title.startsWith("(1)"));
  assert.equal(await page.evaluate(() => window.made), 0, "nothing is shown before all has come");
  await page.clock.runFor(1000);
  await waitForText(row(page, ids[0]).locator(".session-link"), `After ${ids[0]}`);
  assert.equal(await page.locator(".session-row").count(), MANY);
  // The last one asks for something, so it has moved as well.
  assert.ok((await page.evaluate(() => window.made)) <= MANY + 1, `${await page.evaluate(() => window.made)} rows were made`);

  await row(page, ids[7]).evaluate((element) => element.setAttribute("data-untouched", ""));
  await tell([ids[3]], "Again");
  await page.waitForFunction(() => document.title.startsWith("(2)"));
  await page.clock.runFor(1000);
  await waitForText(row(page, ids[3]).locator(".session-link"), `Again ${ids[3]}`);
  assert.equal(await row(page, ids[7]).getAttribute("data-untouched"), "");
});

test("a search while the server cannot be reached asks once, says so, and goes on when it is back", async () => {
  deck.expectConsoleErrors(/net::ERR_FAILED|Failed to fetch/);
  const context = await deck.openContext();
  let isDown = true;
  let asked = 0;
  const session = (number) => ({ sessionId: `session-${number}`, title: `Number ${number}`, state: "ready", model: "demo", workingDirectory: "/w", updatedAt: new Date(1e12 + number).toISOString(), pending: 0 });
  await context.route(/\/api\/copilot\/session\?/, (route) => {
    if (!route.request().url().includes("after=")) return route.fulfill({ json: { sessions: [session(2)], next: "2" } });
    asked += 1;
    return isDown ? route.abort() : route.fulfill({ json: { sessions: [session(1)] } });
  });
  // Each of the server's own sessions would be news to this list, which then asks again.
  await context.route(/\/api\/events$/, () => {});
  const page = await openSetupIn(context);
  await row(page, "session-2").waitFor();
  await page.locator("#session-search").fill("number");
  await waitForText(page.locator("#session-list"), /Could not load sessions/);
  for (let frame = 0; frame < 10; frame += 1) await painted(page);
  assert.equal(asked, 1, "a failure is not tried again at once");
  assert.equal(await page.evaluate(() => document.activeElement.id), "session-search", "typing goes on");
  isDown = false;
  await page.locator("#session-search").press("End");
  await page.keyboard.type(" 1");
  await row(page, "session-1").waitFor();
});

async function openSetupIn(context) {
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  return page;
}
