// The sidebar: what needs a person, what works, what is recent, in one line each.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { checkAccessibility, openSession, shown, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";
import { ENTRY, jobWhen, makeFolder, startJob } from "./support/realJobs.mjs";

const deck = useDeck({ jobs: ENTRY });
/** Wide enough that it is open from the start. */
const WIDE = { viewport: { width: 1440, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const prompt = (id, text) => deck.server.call("POST", `copilot/session/${id}/prompt`, { text });
const row = (page, title) => page.locator(".sidebar-row", { hasText: title });
const titles = (page, group) => page.locator(`.sidebar-${group} .sidebar-title`).allTextContents();
const focusedPlace = (page) => page.evaluate(() => document.activeElement.dataset?.place ?? document.activeElement.className);

async function endAll() {
  const { sessions } = await deck.server.call("GET", "copilot/session?limit=1000");
  for (const { sessionId } of sessions) await deck.server.api("DELETE", `copilot/session/${sessionId}`);
}

async function folderNamed(name, { git = false } = {}) {
  const folder = path.join(deck.server.workFolder, name);
  await mkdir(folder, { recursive: true });
  if (git) {
    execFileSync("git", ["init", "-q"], { cwd: folder });
    await writeFile(path.join(folder, "new.txt"), "new\n");
  }
  return folder;
}

test("what needs a person stands first, then what works, then what is recent, and rows change places as sessions do", async () => {
  await endAll();
  const asks = await deck.server.session({ title: "Asks" });
  const works = await deck.server.session({ title: "Works" });
  const quiet = await deck.server.session({ title: "Quiet" });
  await deck.server.turn(quiet, "hello");
  await prompt(asks, "permission");
  await prompt(works, "many 100000 20");
  const page = await openSession(deck, quiet, WIDE);
  const groups = async () => JSON.stringify([await titles(page, "needs"), await titles(page, "working"), await titles(page, "recent")]);
  await waitFor(async () => (await groups()) === '[["Asks"],["Works"],["Quiet"]]', "each in its group");
  assert.deepEqual(await page.locator(".sidebar-group > h2").evaluateAll((all) => all.map(({ textContent }) => textContent.trim())), ["Needs you 1", "Working 1", "Recent"]);
  assert.equal(await row(page, "Quiet").getAttribute("aria-current"), "page");
  assert.match(await row(page, "Asks").getAttribute("title"), /Asks — .* — Needs your input · session-/);
  assert.match(await row(page, "Works").textContent(), /Working/);
  await prompt(quiet, "question");
  await waitFor(async () => (await titles(page, "needs")).join() === "Asks,Quiet", "the longest wait first");
  await deck.server.call("POST", `copilot/session/${works}/interrupt`);
  await waitFor(async () => (await titles(page, "recent")).join() === "Works", "it is done");
  await deck.server.api("DELETE", `copilot/session/${asks}`);
  await waitFor(async () => (await titles(page, "needs")).join() === "Quiet", "it was deleted elsewhere");
  await row(page, "Works").click();
  await waitForText(page.locator("#session-title"), "Works");
  assert.equal(await row(page, "Works").getAttribute("aria-current"), "page");
  assert.equal(await page.evaluate(() => document.activeElement.id), "request-textarea");
  await checkAccessibility(page, "the sidebar");
});

test("no row moves under the pointer", async () => {
  await endAll();
  const first = await deck.server.session({ title: "First" });
  const second = await deck.server.session({ title: "Second" });
  await deck.server.turn(first, "hello");
  await deck.server.turn(second, "hello");
  const page = await openSession(deck, second, WIDE);
  await waitFor(async () => (await titles(page, "recent")).join() === "Second,First", "both");
  await row(page, "First").hover();
  await prompt(first, "permission");
  await waitForText(page.locator("#inbox-count"), "1");
  await waitFor(async () => /Needs your input/.test(await row(page, "First").textContent()), "its mark");
  assert.deepEqual(await titles(page, "recent"), ["Second", "First"]);
  await page.locator("#session-part").hover();
  await waitFor(async () => (await titles(page, "needs")).join() === "First", "now it moves");
});

test("one key hides it and shows it, the page remembers, and nothing shifts while it loads", async () => {
  await endAll();
  const id = await deck.server.session({ title: "Remembered" });
  const context = await deck.openContext(WIDE);
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  assert.ok(await page.locator("#sidebar").isVisible());
  await page.locator("#request-textarea").press("Alt+l");
  assert.ok(await page.locator("#sidebar").isHidden());
  assert.equal(await page.locator("#sidebar-button").getAttribute("aria-expanded"), "false");
  let asked = 0;
  await context.route(/\/api\/jobs\?/, (route) => {
    asked += 1;
    return route.continue();
  });
  await page.reload();
  await shown(page);
  assert.ok(await page.locator("#sidebar").isHidden());
  assert.equal(asked, 0, "what is hidden asks for nothing");
  await page.keyboard.press("Alt+l");
  await waitFor(async () => (await focusedPlace(page)) === id, "the row of the session that is shown");
  await page.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) window.shifts.push([value, sources.map(({ node }) => node?.id || node?.className || node?.nodeName)]);
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.reload();
  await shown(page);
  await row(page, "Remembered").waitFor();
  const shifts = await page.evaluate(() => window.shifts);
  assert.ok(shifts.every(([, sources]) => !sources.some((name) => ["main", "session-ui", "session-part", "request-part", "sidebar"].includes(name))), JSON.stringify(shifts));
});

test("opened by key before its rows are there, the focus goes on to the row of the page, unless the person moved it", async () => {
  await endAll();
  const id = await deck.server.session({ title: "Late" });
  for (const isMoved of [false, true]) {
    const context = await deck.openContext({ viewport: { width: 1200, height: 900 } });
    let release;
    const held = new Promise((resolve) => {
      release = resolve;
    });
    // News of a session would bring its row as well.
    await context.route(/\/api\/(copilot\/session\?|events)/, (route) => held.then(() => route.continue()));
    const page = await context.newPage();
    await page.goto(`${deck.server.url}/?session=${id}`);
    await shown(page);
    await page.keyboard.press("Alt+l");
    assert.match(await focusedPlace(page), /sidebar-search/);
    if (isMoved) await page.keyboard.press("Tab");
    release();
    await row(page, "Late").waitFor();
    if (isMoved) {
      assert.match(await focusedPlace(page), /sidebar-new/);
      await page.keyboard.press("Shift+Tab");
      await deck.server.session({ title: "Newer" });
      await row(page, "Newer").waitFor();
      assert.match(await focusedPlace(page), /sidebar-search/, "nor later");
    } else await waitFor(async () => (await focusedPlace(page)) === id, "the row of the session that is shown");
  }
});

test("arrow keys move among the rows, Enter opens one, and letters answer nothing", async () => {
  await endAll();
  const [one, two, three] = [await deck.server.session({ title: "One" }), await deck.server.session({ title: "Two" }), await deck.server.session({ title: "Three" })];
  await prompt(one, "permission");
  for (const id of [two, three]) await deck.server.turn(id, "hello");
  const page = await openSession(deck, three, WIDE);
  await row(page, "One").waitFor();
  await page.keyboard.press("Alt+l");
  await page.keyboard.press("Alt+l");
  await waitFor(async () => (await focusedPlace(page)) === three, "the current row");
  await page.keyboard.press("Home");
  assert.equal(await focusedPlace(page), one);
  await page.keyboard.type("1 2 3");
  await page.keyboard.press("End");
  assert.equal(await focusedPlace(page), two);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.equal(await focusedPlace(page), one);
  await page.keyboard.press("Enter");
  await waitForText(page.locator("#session-title"), "One");
  await page.keyboard.type("1");
  const log = await deck.server.log(one);
  assert.ok(!log.some(({ response }) => response.callback === "onPermissionAnswered"));
});

test("by folder, each has its sessions, its jobs and its changes", async () => {
  await endAll();
  const [greeter, ledger] = [await folderNamed("greeter", { git: true }), await folderNamed("ledger")];
  const here = await deck.server.session({ title: "In greeter", workingDirectory: greeter });
  await deck.server.turn(here, "hello");
  const waits = await deck.server.session({ title: "In ledger", workingDirectory: ledger });
  await prompt(waits, "permission");
  const jobId = await startJob(deck.server, "gate", { workingDirectory: greeter });
  await jobWhen(deck.server, jobId, ({ waiting }) => waiting.length === 1);
  const page = await openSession(deck, here, WIDE);
  await row(page, "In ledger").waitFor();
  await page.locator(".sidebar-by-folder").click();
  const group = (folder) => page.locator(".sidebar-folder-group", { has: page.locator(`[title="${folder}"]`) });
  await waitFor(async () => (await group(greeter).locator(".sidebar-row .sidebar-title").allTextContents()).join() === "gate,In greeter", "session and job of a folder");
  assert.deepEqual(await group(ledger).locator(".sidebar-row .sidebar-title").allTextContents(), ["In ledger"]);
  assert.equal(await group(ledger).locator(".sidebar-count-needs").textContent(), "1");
  await waitForText(group(greeter).locator(".sidebar-fact").first(), "1 change");
  assert.equal(await group(ledger).locator(".sidebar-fact").allTextContents().then((all) => all.join()), "New job", "no repository, no changes");
  await group(ledger).locator(".sidebar-folder").click();
  assert.ok(await row(page, "In ledger").isHidden());
  await page.reload();
  await shown(page);
  // Nothing is added under the pointer.
  await page.mouse.move(1000, 300);
  await waitForText(group(greeter).locator(".sidebar-fact").first(), "1 change");
  assert.ok(await row(page, "In ledger").isHidden(), "remembered");
  await group(ledger).locator(".sidebar-folder").focus();
  await page.keyboard.press("ArrowRight");
  assert.ok(await row(page, "In ledger").isVisible());
  await row(page, "In ledger").click();
  await waitForText(page.locator("#session-title"), "In ledger");
  await group(greeter).locator(".sidebar-fact", { hasText: "1 change" }).click();
  await waitForText(page.locator("#session-title"), "In greeter");
  await waitForText(page.locator("#side-panel-title"), "Changes");
  assert.ok(!page.url().includes("panel="), "the panel opens once");
  await checkAccessibility(page, "the sidebar by folder");
  await group(greeter).locator(".sidebar-row", { hasText: "gate" }).click();
  await page.waitForURL(/jobTracking\.html/);
  await page.locator("#sidebar-button:enabled").click();
  await waitForText(page.locator('.sidebar-row[aria-current="page"] .sidebar-title'), "gate");
});

test("changes are counted again only where somebody sees the count", async () => {
  await endAll();
  const folder = await folderNamed("counted", { git: true });
  const elsewhere = await deck.server.session({ title: "Elsewhere" });
  const id = await deck.server.session({ title: "Counted", workingDirectory: folder });
  const page = await openSession(deck, elsewhere, WIDE);
  const counts = watchCalls(page, /\/changes$/);
  const fact = page.locator(".sidebar-folder-group", { has: page.locator(`[title="${folder}"]`) }).locator(".sidebar-fact").first();
  const setHidden = (isHidden) =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
  const waiting = async () => Number(await page.locator("#inbox-count").textContent());
  /** A turn after which another file is there; its news has reached the page. */
  let files = 1;
  const work = async () => {
    files += 1;
    const others = await waiting();
    await writeFile(path.join(folder, `new-${files}.txt`), "new\n");
    await prompt(id, "permission");
    await waitFor(async () => (await waiting()) === others + 1, "the request");
    await deck.server.call("POST", `copilot/session/${id}/interrupt`, {});
    await waitFor(async () => (await waiting()) === others, "the end of the turn");
  };
  await row(page, "Counted").waitFor();
  await page.locator(".sidebar-by-folder").click();
  await page.mouse.move(1000, 300);
  await waitForText(fact, "1 change");
  await setHidden(true);
  const before = counts.all.length;
  await work();
  assert.equal(counts.all.length, before, "nobody sees the tab");
  await setHidden(false);
  await waitForText(fact, "2 changes");
  await page.locator("#sidebar-button").click();
  await waitFor(() => counts.underWay === 0, "the last count");
  const closed = counts.all.length;
  await work();
  assert.equal(counts.all.length, closed, "the sidebar is closed");
  await page.locator("#sidebar-button").click();
  await waitForText(fact, "3 changes");
  await page.locator(".sidebar-by-folder").click();
  await waitFor(() => counts.underWay === 0, "the last count");
  const ungrouped = counts.all.length;
  await work();
  assert.equal(counts.all.length, ungrouped, "no folder is shown");
  await page.locator(".sidebar-by-folder").click();
  await page.mouse.move(1000, 300);
  await waitForText(fact, "4 changes");
});

test("on a phone it is a drawer over the whole page, and a tap outside only closes it", async () => {
  await endAll();
  const id = await deck.server.session({ title: "On the phone" });
  const other = await deck.server.session({ title: "The other one" });
  for (const one of [id, other]) await deck.server.turn(one, "hello");
  const page = await openSession(deck, id, PHONE);
  assert.ok(await page.locator("#sidebar").isHidden());
  await page.locator("#sidebar-button").tap();
  await row(page, "The other one").waitFor();
  const box = await page.locator("#sidebar").boundingBox();
  assert.deepEqual([box.y, box.height], [0, PHONE.viewport.height], "from top to bottom");
  assert.deepEqual(await page.locator("#sidebar-backdrop").boundingBox(), { x: 0, y: 0, ...PHONE.viewport }, "everything beside it is dimmed");
  for (const one of await page.locator("#sidebar :is(a, button)").all()) {
    const { height } = await one.boundingBox();
    assert.ok(height >= 40, `${await one.textContent()} is ${height} px high`);
  }
  await checkAccessibility(page, "the drawer");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#sidebar").isHidden());
  await page.locator("#sidebar-button").tap();
  await page.locator("#sidebar-backdrop").tap({ position: { x: 380, y: 300 } });
  assert.ok(await page.locator("#sidebar").isHidden());
  await page.locator("#sidebar-button").tap();
  const text = await page.locator("#request-textarea").boundingBox();
  await page.touchscreen.tap(text.x + text.width - 8, text.y + text.height / 2);
  assert.ok(await page.locator("#sidebar").isHidden(), "a tap over the request closes it");
  assert.equal(await page.evaluate(() => document.activeElement.id === "request-textarea"), false, "and goes no further");
  await page.locator("#sidebar-button").tap();
  await row(page, "The other one").tap();
  await waitForText(page.locator("#session-title"), "The other one");
  assert.ok(await page.locator("#sidebar").isHidden());
});

test("200 sessions: one change touches one row, and a name is only text", async () => {
  await endAll();
  const ids = [];
  for (let number = 1; number <= 200; number += 1) ids.push(await deck.server.session({ title: number === 7 ? '<img src=x onerror="alert(1)">\u202Eevil' : `Session ${number}` }));
  const page = await (await deck.openContext(WIDE)).newPage();
  // A minute that passes would touch every row.
  await page.clock.setFixedTime(Date.now());
  await page.goto(`${deck.server.url}/?session=${ids[0]}`);
  await shown(page);
  // The stream may tell of them before the list does, which has their times too.
  await waitFor(async () => (await page.locator(".sidebar-recent .sidebar-row:has(.sidebar-age:not(:empty))").count()) === 100, "the newest hundred");
  await page.locator(".sidebar-older").waitFor();
  await page.evaluate(() => {
    window.touched = new Set();
    new MutationObserver((changes) => {
      for (const { target } of changes) window.touched.add((target.nodeType === 1 ? target : target.parentElement).closest(".sidebar-row")?.dataset.place ?? "list");
    }).observe(document.querySelector(".sidebar-list"), { subtree: true, childList: true, characterData: true, attributes: true });
  });
  await deck.server.turn(ids[150], "hello");
  await waitFor(() => page.evaluate((id) => document.querySelector(`[data-place="${id}"]`)?.classList.contains("unread"), ids[150]), "the mark");
  const touched = await page.evaluate(() => [...window.touched]);
  assert.ok(touched.every((name) => name === "list" || name === ids[150]), touched.join());
  await deck.server.turn(ids[6], "hello");
  await waitFor(async () => (await page.locator(".sidebar-title").allTextContents()).some((text) => text.startsWith("<img") && text.includes("U+202E")), "the name, marked");
  assert.equal(await page.locator(".sidebar-list img").count(), 0);
});

test("a server that was restarted in between, with a session deleted, is caught up with", async () => {
  await endAll();
  const stays = await deck.server.session({ title: "Stays" });
  const goes = await deck.server.session({ title: "Goes" });
  await prompt(goes, "permission");
  const page = await openSession(deck, stays, WIDE);
  await row(page, "Goes").waitFor();
  deck.expectConsoleErrors(/Failed to load resource|ERR_|503|network/i);
  await deck.server.kill();
  await page.locator('[data-banner="connection"]').waitFor();
  await deck.server.startAgain();
  await deck.server.api("DELETE", `copilot/session/${goes}`);
  await row(page, "Goes").waitFor({ state: "detached" });
  await row(page, "Stays").waitFor();
});

test("without sessions it says so, on every page it is there, and without storage it works", async () => {
  await endAll();
  const first = await deck.openContext(WIDE);
  await first.route(/\/api\/jobs\?/, (route) => route.fulfill({ json: { jobs: [] } }));
  const page = await first.newPage();
  await page.goto(deck.server.url);
  await waitForText(page.locator(".sidebar-note"), "No sessions yet.");
  const folder = await makeFolder(deck.server);
  await page.goto(`${deck.server.url}/jobs.html?wb=${encodeURIComponent(folder)}`);
  await page.locator("#sidebar-button:enabled").click();
  await waitForText(page.locator(".sidebar-note"), "No sessions yet.");
  const context = await deck.openContext(WIDE);
  await context.addInitScript(() => {
    const { getItem, setItem } = Storage.prototype;
    const refuse = (storage, key) => {
      if (storage !== sessionStorage && key !== "flightdeck.secret") throw new Error("no storage");
    };
    Storage.prototype.getItem = function (key) {
      refuse(this, key);
      return getItem.call(this, key);
    };
    Storage.prototype.setItem = function (key, value) {
      refuse(this, key);
      return setItem.call(this, key, value);
    };
  });
  const bare = await context.newPage();
  await bare.goto(deck.server.url);
  await bare.locator("#sidebar-button:enabled").click();
  assert.ok(await bare.locator("#sidebar").isHidden());
  await bare.locator("#sidebar-button").click();
  await bare.locator(".sidebar-by-folder").click();
  assert.equal(await bare.locator(".sidebar-by-folder").getAttribute("aria-pressed"), "true");
});

test("the session of the page is scrolled into view when the page opens, and only then", async () => {
  await endAll();
  const ids = [];
  for (let number = 0; number < 50; number += 1) ids.push(await deck.server.session({ title: `Number ${number}` }));
  const page = await openSession(deck, ids[0], WIDE);
  // The stream may tell of it before the list does, which has its time too.
  const here = page.locator('.sidebar-row[aria-current="page"]:has(.sidebar-age:not(:empty))');
  const inView = () =>
    here.evaluate((element) => {
      const [row, list] = [element.getBoundingClientRect(), element.closest(".sidebar-list").getBoundingClientRect()];
      return row.top >= list.top && row.bottom <= list.bottom;
    });
  await here.waitFor({ state: "attached" });
  assert.ok(await inView(), "the last row of many");
  assert.deepEqual(await page.evaluate(() => [document.scrollingElement.scrollTop, document.querySelector("#page").scrollTop, document.querySelector("#sidebar").scrollTop]), [0, 0, 0], "the page itself does not move");
  // A change of the list leaves the reader where they have scrolled to.
  await page.locator(".sidebar-list").evaluate((list) => list.scrollTo({ top: 0, behavior: "instant" }));
  await deck.server.call("PATCH", `copilot/session/${ids[40]}`, { title: "Renamed" });
  await row(page, "Renamed").waitFor();
  assert.equal(await page.locator(".sidebar-list").evaluate((list) => list.scrollTop), 0);
});
