// The home page: start with a prompt, sessions in the order in which they need somebody, nothing moves while it loads.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { blocks, folderKnown, openSetup, painted, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

/** The id of the session that the page shows. */
const sessionOf = (page) => new URL(page.url()).searchParams.get("session");

const rowIds = (page) => page.locator(".session-row").evaluateAll((rows) => rows.map((row) => row.dataset.session));

/** Counts how far things move, from the first paint on. */
async function watchShifts(page) {
  await page.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push({ value: entry.value, nodes: entry.sources.map(({ node }) => node?.id || node?.className || node?.nodeName) });
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** Holds back the answers of some routes until `release()`. */
async function holdBack(context, pattern) {
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  await context.route(pattern, async (route) => {
    await released;
    await route.continue().catch(() => {});
  });
  return release;
}

const settled = async (page) => {
  await page.locator("#home-sections").waitFor();
  await folderKnown(page);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  await page.locator("#inbox-button:enabled").waitFor();
  await painted(page);
};

test("a prompt starts a session and is sent, by the button and by Ctrl+Enter", async () => {
  const page = await openSetup(deck);
  await page.locator("#working-dir").fill(deck.server.workFolder);
  await page.locator("#prompt-box").fill("hello <b>there</b>");
  await page.locator("#start-button").click();
  await shown(page);
  await waitForText(blocks(page, "User"), /hello <b>there<\/b>/);
  await page.locator(".turn-end").waitFor();
  const details = await deck.server.call("GET", `copilot/session/${sessionOf(page)}`);
  assert.equal(details.runtime, "demo");
  assert.equal(details.workingDirectory, deck.server.workFolder);
  await page.goBack();
  await page.locator("#prompt-box").waitFor();
  assert.equal(await page.locator("#prompt-box").inputValue(), "", "what was sent is gone from the box");
  await page.locator("#prompt-box").fill("reason");
  await page.locator("#prompt-box").press("Control+Enter");
  await shown(page);
  await waitForText(blocks(page, "User"), /reason$/);
  assert.notEqual(sessionOf(page), details.sessionId);
});

/** Holds the start of a session on the page until the returned function is called. */
async function holdStart(page) {
  const hold = held();
  let isAsked = false;
  await page.route("**/api/copilot/session", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    isAsked = true;
    await hold.done;
    return route.fallback();
  });
  return { asked: () => waitFor(() => isAsked, "the start"), release: hold.release };
}

function held() {
  let release;
  const done = new Promise((resolve) => {
    release = resolve;
  });
  return { done, release };
}

test("what is typed while a session starts is the draft of the next one", async () => {
  const page = await openSetup(deck);
  const start = await holdStart(page);
  await page.locator("#prompt-box").fill("hello there");
  await page.keyboard.press("Control+Enter");
  await start.asked();
  await page.keyboard.type(" and the next");
  start.release();
  await shown(page);
  await waitForText(blocks(page, "User"), /hello there$/);
  await page.goBack();
  await page.locator("#prompt-box").waitFor();
  assert.equal(await page.locator("#prompt-box").inputValue(), " and the next");
  await page.reload();
  await settled(page);
  assert.equal(await page.locator("#prompt-box").inputValue(), " and the next");
});

test("a prompt that was rewritten while its session starts stays as it is", async () => {
  const page = await openSetup(deck);
  const start = await holdStart(page);
  await page.locator("#prompt-box").fill("hello there");
  await page.keyboard.press("Control+Enter");
  await start.asked();
  await page.locator("#prompt-box").fill("something else");
  start.release();
  await shown(page);
  await page.goBack();
  await page.locator("#prompt-box").waitFor();
  assert.equal(await page.locator("#prompt-box").inputValue(), "something else");
});

test("a session that starts while another one is shown does not take its place", async () => {
  const other = await deck.server.session({ title: "Opened meanwhile" });
  const page = await openSetup(deck);
  const start = await holdStart(page);
  await page.locator("#prompt-box").fill("hello from the home page");
  await page.keyboard.press("Control+Enter");
  await start.asked();
  await page.locator(`.session-row[data-session="${other}"] a`).first().click();
  await shown(page);
  await page.keyboard.type("for the ");
  start.release();
  await page.locator("[aria-live=polite]", { hasText: "The new session was started. It is in the sidebar." }).waitFor({ state: "attached" });
  await page.keyboard.type("other one");
  assert.equal(sessionOf(page), other);
  assert.equal(await page.locator("#request-textarea").inputValue(), "for the other one");
  await page.goBack();
  await page.locator("#prompt-box").waitFor();
  assert.equal(await page.locator("#prompt-box").inputValue(), "");
});

test("a start that fails while another session is shown is announced there", async () => {
  deck.expectConsoleErrors(/503/);
  const other = await deck.server.session({ title: "Opened during a failing start" });
  const page = await openSetup(deck);
  const start = held();
  let isAsked = false;
  await page.route("**/api/copilot/session", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    isAsked = true;
    await start.done;
    return route.fulfill({ status: 503, json: { error: "Busy", message: "No room." } });
  });
  await page.locator("#prompt-box").fill("hello");
  await page.keyboard.press("Control+Enter");
  await waitFor(() => isAsked, "the start");
  await page.locator(`.session-row[data-session="${other}"] a`).first().click();
  await shown(page);
  start.release();
  await page.locator("[aria-live=polite]", { hasText: "Could not start the session: No room." }).waitFor({ state: "attached" });
  await page.goBack();
  await waitForText(page.locator("#start-problem"), /No room\./);
  assert.equal(await page.locator("#prompt-box").inputValue(), "hello");
});

test("without a prompt, Start just opens a session", async () => {
  const page = await openSetup(deck);
  await page.locator("#prompt-box").fill("  \n ");
  await page.locator("#start-button").click();
  await shown(page);
  const log = await deck.server.log(sessionOf(page));
  assert.equal(log.filter(({ response }) => response.callback === "onUserPrompt").length, 0);
});

test("a prompt that cannot be sent stays in the box, and the next try uses the same session", async () => {
  deck.expectConsoleErrors(/503|ERR_FAILED/);
  const context = await deck.openContext();
  let refusals = 1;
  await context.route(/\/prompt$/, async (route) => {
    refusals -= 1;
    if (refusals < 0) return route.continue();
    // The server accepts it, but its answer is lost.
    await route.fetch();
    return route.abort();
  });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  // A folder that comes between the two tries would make the second one another session.
  await folderKnown(page);
  const before = (await deck.server.call("GET", "copilot/session?limit=1000")).sessions.length;
  await page.locator("#prompt-box").fill("hello again");
  await page.locator("#start-button").click();
  await waitForText(page.locator("#start-problem"), /The session was started, but the prompt was not sent: .* Open the session/);
  assert.equal(await page.locator("#prompt-box").inputValue(), "hello again");
  await page.locator("#start-button").click();
  await shown(page);
  const { sessions } = await deck.server.call("GET", "copilot/session?limit=1000");
  assert.equal(sessions.length, before + 1, "one session");
  const prompts = (await deck.server.log(sessionOf(page))).filter(({ response }) => response.callback === "onUserPrompt");
  assert.deepEqual(prompts.map(({ response }) => response.text), ["hello again"], "one prompt");
});

test("a prompt of a megabyte is sent whole, and one that is too large says so and stays", async () => {
  deck.expectConsoleErrors(/413/);
  const page = await openSetup(deck);
  const long = `hello ${"x".repeat(1024 * 1024 - 6)}`;
  await page.locator("#prompt-box").fill(long);
  await page.locator("#start-button").click();
  await shown(page);
  const prompt = await waitFor(async () => (await deck.server.log(sessionOf(page))).find(({ response }) => response.callback === "onUserPrompt"), "the prompt");
  assert.equal(prompt.response.text.length, long.length);
  await page.goBack();
  await page.locator("#prompt-box").waitFor();
  const limit = 1024 * 1024 + 1;
  await page.evaluate((length) => {
    document.querySelector("#prompt-box").value = "x".repeat(length);
  }, limit);
  await page.locator("#start-button").click();
  await waitForText(page.locator("#start-problem"), /the prompt was not sent/);
  assert.equal(await page.locator("#prompt-box").evaluate((box) => box.value.length), limit);
});

test("the text survives a reload", async () => {
  const page = await openSetup(deck);
  await page.locator("#prompt-box").fill("half a thought");
  await page.reload();
  await settled(page);
  assert.equal(await page.locator("#prompt-box").inputValue(), "half a thought");
});

test("a tab in which nobody typed leaves the kept text alone when it is closed", async () => {
  const context = await deck.openContext();
  const [empty, writing] = [await context.newPage(), await context.newPage()];
  for (const page of [empty, writing]) {
    await page.goto(deck.server.url);
    await settled(page);
  }
  await writing.locator("#prompt-box").fill("half a thought");
  const kept = () => writing.evaluate(() => Object.entries(localStorage).find(([key]) => key.includes("(new session)"))?.[1] ?? null);
  await waitFor(async () => (await kept()) === "half a thought", "the kept text");
  await empty.goto(`${deck.server.url}/test.html`);
  assert.equal(await kept(), "half a thought", "the empty tab deletes nothing");

  const stale = await context.newPage();
  await stale.goto(deck.server.url);
  await settled(stale);
  assert.equal(await stale.locator("#prompt-box").inputValue(), "half a thought");
  await writing.locator("#start-button").click();
  await shown(writing);
  assert.equal(await kept(), null);
  await stale.goto(`${deck.server.url}/test.html`);
  assert.equal(await kept(), null, "what was sent does not come back");
});

test("what was typed last is kept when the tab is closed at once", async () => {
  const page = await openSetup(deck);
  await page.locator("#prompt-box").fill("half a thought");
  await page.goto(`${deck.server.url}/test.html`);
  await page.goto(deck.server.url);
  await settled(page);
  assert.equal(await page.locator("#prompt-box").inputValue(), "half a thought");
});

test("what needs somebody is first, then what works, then the newest; no row moves under the pointer", async () => {
  const folder = path.join(deck.server.folder, "order");
  await mkdir(folder, { recursive: true });
  const make = async (title, text) => {
    const id = await deck.server.session({ title, workingDirectory: folder });
    if (text) await deck.server.call("POST", `copilot/session/${id}/prompt`, { text });
    return id;
  };
  const waiting = await make("Waiting one", "permission");
  const working = await make("Working one", "many 4000 2 20");
  const quiet = await make("Quiet one");
  const page = await openSetup(deck);
  await waitForText(page.locator(`[data-session="${waiting}"] .state-word`), "Needs your input");
  await waitFor(async () => (await rowIds(page)).indexOf(working) === (await rowIds(page)).indexOf(waiting) + 1, "the working one second");
  assert.ok((await rowIds(page)).indexOf(quiet) > (await rowIds(page)).indexOf(working));
  await page.locator(`[data-session="${quiet}"]`).hover();
  const before = await rowIds(page);
  await deck.server.call("POST", `copilot/session/${quiet}/prompt`, { text: "permission" });
  await waitForText(page.locator(`[data-session="${quiet}"] .state-word`), "Needs your input");
  assert.deepEqual(await rowIds(page), before, "nothing moves under the pointer");
  await page.locator("#prompt-box").hover();
  await waitFor(async () => (await rowIds(page)).indexOf(quiet) < (await rowIds(page)).indexOf(working), "the new order");
  for (const id of [waiting, working, quiet]) await deck.server.call("POST", `copilot/session/${id}/stop`);
});

test("a path is shortened once, and its last part can be read", async () => {
  const folder = path.join(deck.server.folder, "a-rather-long-folder-name/another-long-folder-name/payments");
  await mkdir(folder, { recursive: true });
  const id = await deck.server.session({ title: "Deep", workingDirectory: folder });
  const page = await openSetup(deck);
  const cell = page.locator(`[data-session="${id}"] .session-folder`);
  assert.equal(await cell.textContent(), folder, "nothing is cut out of the text");
  assert.equal(await cell.getAttribute("title"), folder);
  const isCut = (part) => part.evaluate((element) => element.scrollWidth > element.clientWidth);
  assert.deepEqual([await isCut(cell.locator(".path-beginning > :first-child")), await isCut(cell.locator(".path-end"))], [true, false], "only the beginning gives way");
});

test("nothing moves on a first visit, however late the answers come", async () => {
  const context = await deck.openContext({ viewport: { width: 1280, height: 800 } });
  const release = await holdBack(context, /\/api\/(models|runtimes|config|copilot\/session|copilot\/job\/running)(\?|$)/);
  const page = await context.newPage();
  await watchShifts(page);
  await page.goto(deck.server.url);
  await page.locator("#prompt-box").waitFor();
  await painted(page);
  const start = await page.locator("#start-button").boundingBox();
  release();
  await settled(page);
  assert.deepEqual(await page.locator("#start-button").boundingBox(), start, "Start is where it was");
  const shifts = await page.evaluate(() => window.shifts);
  const sum = shifts.reduce((all, { value }) => all + value, 0);
  assert.ok(sum < 0.02, `${sum}: ${JSON.stringify(shifts)}`);
});

test("while the agents are checked for the first time, the page says so", async () => {
  const context = await deck.openContext();
  const release = await holdBack(context, /\/api\/(models|runtimes)(\?|$)/);
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitForText(page.locator("#agents-summary"), "checking …");
  await page.locator("#agents > summary").click();
  assert.equal(await page.locator("#runtime-list").innerText(), "Checking which agents are installed and logged in …");
  release();
  await settled(page);
  assert.match(await page.locator("#agents-summary").textContent(), /ready$/);
  assert.equal(await page.locator("#runtime-list .empty").count(), 0);
});

for (const [name, viewport] of [["desktop", { width: 1280, height: 800 }], ["phone", { width: 390, height: 844 }]]) {
  test(`on the next visit everything is there at once, and nothing moves (${name})`, async () => {
    for (let number = 0; number < 6; number += 1) await deck.server.session({ title: `Session ${number}` });
    const context = await deck.openContext({ viewport });
    const first = await context.newPage();
    await first.goto(deck.server.url);
    await settled(first);
    await first.locator("#model-select").selectOption("demo-slow");
    await first.close();
    const release = await holdBack(context, /\/api\/(models|runtimes|config)(\?|$)/);
    const page = await context.newPage();
    await watchShifts(page);
    await page.goto(deck.server.url);
    await waitFor(() => page.locator("#start-button").isEnabled(), "Start, without an answer of the server");
    assert.equal(await page.locator("#model-select").inputValue(), "demo-slow");
    assert.equal(await page.locator("#runtime-select").inputValue(), "demo");
    assert.notEqual(await page.locator("#working-dir").inputValue(), "");
    await page.locator("#model-select").selectOption("demo");
    const answers = ["models", "runtimes", "config"].map((route) => page.waitForResponse(new RegExp(`/api/${route}$`)));
    release();
    await Promise.all(answers);
    await settled(page);
    assert.equal(await page.locator("#model-select").inputValue(), "demo", "what the person has chosen stays");
    const shifts = await page.evaluate(() => window.shifts);
    const sum = shifts.reduce((all, { value }) => all + value, 0);
    assert.ok(sum < 0.02, `${sum}: ${JSON.stringify(shifts)}`);
  });
}

test("beside the inbox, fields and rows get a layout for less room", async () => {
  const folder = path.join(deck.server.workFolder, "some-project");
  await mkdir(folder, { recursive: true });
  await deck.server.session({ title: "In a project", workingDirectory: folder });
  const page = await openSetup(deck, "/", { viewport: { width: 1000, height: 800 } });
  const row = page.locator(".session-row", { hasText: "In a project" });
  const inView = (part) => row.locator(part).evaluate((one) => one.getBoundingClientRect().top < one.closest(".session-folder").getBoundingClientRect().bottom - 4);
  await row.waitFor();
  assert.equal(await row.locator(".session-folder").textContent(), folder);
  assert.equal(await inView(".path-beginning"), false, "in a narrow column there is only the name");
  assert.ok(await inView(".path-end"));
  assert.equal(await row.locator(".path-end").textContent(), "some-project");
  await page.locator("#inbox-button").click();
  await page.locator("#side-panel").waitFor();
  const [browse, agent, title] = [await page.locator("#browse-button").boundingBox(), await page.locator("#runtime-select").boundingBox(), await row.locator(".session-link").boundingBox()];
  assert.ok(agent.y >= browse.y + browse.height, "nothing covers the folder");
  assert.ok(await inView(".path-beginning"), "a row of its own has room for the path");
  const state = await row.locator(".state").boundingBox();
  assert.ok(state.y >= title.y + title.height - 1, "the title has a line of its own");
});

test("without storage everything works, and lasts as long as the page", async () => {
  const context = await deck.openStrangersContext();
  await context.addInitScript(() => {
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new DOMException("The storage is disabled.", "SecurityError");
      },
    });
  });
  const page = await context.newPage();
  const { code } = await deck.server.call("POST", "login-code");
  await page.goto(`${deck.server.url}/login?code=${code}`);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  await page.locator("#more-options-button").click();
  await page.locator('[data-option="permissionMode"] select').selectOption("deny");
  await page.locator("#model-select").selectOption("demo-slow");
  await page.locator("#prompt-box").fill("hello");
  await page.locator("#start-button").click();
  await shown(page);
  const details = await deck.server.call("GET", `copilot/session/${sessionOf(page)}`);
  assert.equal(details.model, "demo-slow");
  assert.equal(details.permissionMode, "deny");
});

test("two hundred sessions are all shown", async () => {
  const context = await deck.openContext();
  // None of the server's own, which may still work.
  const session = (number) => ({ sessionId: `session-${10_000 + number}`, title: `Session <i>${number}</i>`, state: number % 3 === 0 ? "closed" : "ready", model: "demo", runtime: "demo", workingDirectory: `/srv/folder-${number}`, createdAt: "2026-01-01T00:00:00Z", updatedAt: new Date(1767225600000 + number * 1000).toISOString(), pending: 0 });
  const sessions = Array.from({ length: 200 }, (_, number) => session(number + 1)).reverse();
  await context.route(/\/api\/copilot\/session\?/, (route) => route.fulfill({ json: { sessions } }));
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await settled(page);
  await waitFor(async () => (await page.locator(".session-row").count()) === 200, "all rows");
  assert.equal(await page.locator(".session-link").first().textContent(), "Session <i>200</i>");
});

test("the quiet parts below stay as they were left", async () => {
  const context = await deck.openContext();
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await settled(page);
  assert.ok(await page.locator("#running-jobs-list").isVisible());
  assert.ok(await page.locator("#runtime-list").isHidden());
  await page.locator("#agents > summary").click();
  await page.locator("#running-jobs > summary").click();
  const kept = () => page.evaluate(() => JSON.parse(localStorage.getItem("flightdeck.home.openSections")));
  await waitFor(async () => JSON.stringify(await kept()) === JSON.stringify({ agents: true, "running-jobs": false }), "both are kept");
  await page.reload();
  await settled(page);
  assert.ok(await page.locator("#runtime-list").isVisible());
  assert.ok(await page.locator("#running-jobs-list").isHidden());
});

test("what can be touched is large enough on a phone", async () => {
  const page = await openSetup(deck, "/", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await settled(page);
  await page.locator("#more-options-button").click();
  const small = await page.evaluate(() =>
    [...document.querySelectorAll("#setup-ui :is(button, select, summary, textarea, input:not([type=checkbox]))")]
      .filter((element) => element.checkVisibility())
      .map((element) => [element.id || element.className || element.textContent, element.getBoundingClientRect().height])
      .filter(([, height]) => height < 40),
  );
  assert.deepEqual(small, []);
  const width = await page.evaluate(() => document.querySelector("#setup-ui").scrollWidth - document.querySelector("#setup-ui").clientWidth);
  assert.equal(width, 0, "nothing is wider than the page");
});

test("after a restart of the server, what has changed is there", async () => {
  deck.expectConsoleErrors(/Failed to load resource|net::ERR/);
  const page = await openSetup(deck);
  await page.locator("#prompt-box").fill("hello after the restart");
  await deck.server.kill();
  await waitForText(page.locator("#connection-status"), /not responding/);
  await page.locator("#start-button").click();
  await waitForText(page.locator("#start-problem"), /Could not start the session: The server did not respond/);
  await deck.server.startAgain();
  await page.locator("#connection-status:empty").waitFor({ state: "attached" });
  await page.locator("#start-button").click();
  await shown(page);
  await waitForText(blocks(page, "User"), /hello after the restart$/);
});

test("beside the sidebar and a panel the form keeps its parts", async () => {
  await deck.server.session({ title: "In the inbox" });
  for (const width of [1440, 1100]) {
    const page = await deck.openPage("/", { viewport: { width, height: 800 } });
    await page.locator("#inbox-button").click();
    await page.locator("#side-panel").waitFor();
    const [folder, browse, agent] = await Promise.all(["#working-dir", "#browse-button", "#runtime-select"].map((part) => page.locator(part).boundingBox()));
    assert.ok(folder.width > 200, `${width}: the folder has ${folder.width} pixels`);
    const overlaps = browse.x < agent.x + agent.width && agent.x < browse.x + browse.width && browse.y < agent.y + agent.height && agent.y < browse.y + browse.height;
    assert.ok(!overlaps, `${width}: the agent covers the button`);
  }
});
