// Answers in the inbox: with the command in view, and as careful as in the transcript.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccessibility, openSession, openSetup, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";
import { ENTRY, jobWhen, makeFolder, startJob } from "./support/realJobs.mjs";

const deck = useDeck({ jobs: ENTRY });

const prompt = (id, text) => deck.server.call("POST", `copilot/session/${id}/prompt`, { text });
const group = (page, title) => page.locator(".inbox-list > li", { has: page.locator(".inbox-title", { hasText: title }) });
const ready = (card) => card.locator(".request-block.waiting:not(:has([aria-disabled]))");
const answers = async (id) => (await deck.server.log(id)).filter(({ response }) => /onPermissionAnswered|onQuestionAnswered/.test(response.callback)).map(({ response }) => response.decision ?? response.answer);

async function endAll() {
  const { sessions } = await deck.server.call("GET", "copilot/session?limit=1000");
  for (const { sessionId } of sessions) await deck.server.api("DELETE", `copilot/session/${sessionId}`);
}

/** A session that asks, seen from the home page with the inbox open. */
async function asking(text = "permission", title = "Asks") {
  await endAll();
  const id = await deck.server.session({ title });
  await prompt(id, text);
  const page = await openSetup(deck);
  await page.locator("#inbox-count", { hasText: "1" }).waitFor();
  await page.locator("#inbox-button").click();
  await ready(group(page, title)).waitFor();
  return { id, page, card: group(page, title) };
}

const requestOf = async (id) => (await deck.server.call("GET", `copilot/session/${id}`)).requests[0].requestId;

test("a permission shows exactly what would run and where, and is allowed from the inbox", async () => {
  const { id, page, card } = await asking();
  const { workingDirectory } = await deck.server.call("GET", `copilot/session/${id}`);
  await waitForText(card.locator(".request-detail.exact-text"), "echo 'a demo: nothing is run'");
  await waitForText(card.locator(".request-place"), `shell in ${workingDirectory}`);
  assert.deepEqual(await card.locator(".request-choice bdi").allTextContents(), ["Allow once", "Always allow", "Deny"]);
  assert.equal(await card.locator(".request-scope").first().inputValue(), "call", "the least first");
  assert.ok(await card.locator(".inbox-request").isHidden(), "the card says more than its headline");
  await checkAccessibility(page, "the inbox with cards");
  await card.getByRole("button", { name: "Allow once" }).click();
  await waitForText(card.locator(".request-verdict"), "Allowed once");
  await waitForText(card.locator(".request-by"), "in the browser");
  assert.deepEqual(await answers(id), ["allow-once"]);
  await page.locator("#inbox-count").waitFor({ state: "hidden" });
  await page.keyboard.press("Escape");
  await page.locator("#inbox-button").click();
  await group(page, "Asks").locator(".inbox-entry").waitFor();
  assert.equal(await page.locator(".inbox-cards .request-block").count(), 0, "what is done is gone the next time");
});

test("a denial with a reason and Always allow say the same as in the transcript", async () => {
  const { id, card } = await asking();
  await card.locator(".request-feedback").fill("Use printf.");
  await card.getByRole("button", { name: "Deny" }).click();
  await waitForText(card.locator(".request-verdict"), "Denied");
  await waitForText(card.locator(".request-said"), "Use printf.");
  assert.deepEqual(await answers(id), ["deny"]);
  const other = await asking("permission", "Always");
  await other.card.getByRole("button", { name: "Always allow" }).click();
  await waitForText(other.card.locator(".request-verdict"), "Always allowed");
  const { permissionRules } = await deck.server.call("GET", `copilot/session/${other.id}`);
  assert.equal(permissionRules.length, 1);
});

test("what is typed answers nothing, Enter allows nothing, and Alt+A then a digit does", async () => {
  const { id, page, card } = await asking();
  const calls = watchCalls(page, /\/(permission|answer)\//);
  const places = [() => page.locator(".side-panel-head button").focus(), () => card.locator(".inbox-entry").focus(), () => card.locator(".request-title").click(), () => card.locator(".request-detail").click(), () => page.locator("#working-dir").focus(), () => page.evaluate(() => document.activeElement.blur())];
  for (const goThere of places) {
    await goThere();
    await page.keyboard.type("1 2 3");
    for (const key of ["Alt+1", "Control+1"]) await page.keyboard.press(key);
  }
  await card.getByRole("button", { name: "Allow once" }).focus();
  await page.keyboard.press("Enter");
  await waitForText(card.locator(".request-problem"), /Enter does not choose this/);
  assert.deepEqual(calls.all, []);
  await page.keyboard.press("Alt+a");
  await waitForText(card.locator(".request-keys"), "Press 1 to 3 to choose.");
  await page.keyboard.press("3");
  await waitForText(card.locator(".request-verdict"), "Denied");
  assert.deepEqual(await answers(id), ["deny"]);
});

test("Alt+A goes to the transcript's own request, unless the person is in the inbox", async () => {
  const { id: other } = await asking();
  const here = await deck.server.session({ title: "Shown" });
  await prompt(here, "permission");
  const page = await openSession(deck, here);
  await page.locator("#session-part .request-block.waiting").waitFor();
  await page.locator("#inbox-count", { hasText: "2" }).waitFor();
  await page.keyboard.press("Alt+i");
  await ready(group(page, "Asks")).waitFor();
  const focusedIn = (selector) => page.evaluate((one) => document.activeElement.closest(one) !== null && document.activeElement.classList.contains("takes-keys"), selector);
  await page.locator("#request-textarea").focus();
  await page.keyboard.press("Alt+a");
  assert.ok(await focusedIn("#session-part"));
  await page.locator(".side-panel-head button").focus();
  await page.keyboard.press("Alt+a");
  assert.ok(await focusedIn("#side-panel"));
  assert.deepEqual([await answers(here), await answers(other)], [[], []]);
});

test("a question is answered by an option or in one's own words", async () => {
  const { id, card } = await asking("question");
  await card.getByRole("button", { name: "green" }).click();
  await waitForText(card.locator(".request-verdict"), "Answered");
  assert.deepEqual(await answers(id), ["green"]);
  const other = await asking("question", "Own words");
  await other.card.locator(".request-feedback").fill("ultramarine");
  await other.card.locator(".request-feedback").press("Enter");
  await waitForText(other.card.locator(".request-about"), /ultramarine/);
  assert.deepEqual(await answers(other.id), ["ultramarine"]);
});

test("an answer given elsewhere first is said, and the card can do no more", async () => {
  const { id, page, card } = await asking();
  const requestId = await requestOf(id);
  deck.expectConsoleErrors(/409/);
  // The stream is slower than the click.
  await page.route(/\/permission\//, async (route) => {
    await deck.server.call("POST", `copilot/session/${id}/permission/${requestId}`, { decision: "deny" });
    await route.continue();
  });
  const refused = page.waitForResponse(/\/permission\//);
  await card.getByRole("button", { name: "Allow once" }).click();
  const reply = await refused;
  assert.equal(reply.status(), 409);
  assert.match((await reply.json()).message, /already/i);
  await waitForText(card.locator(".request-verdict"), "Denied");
  await waitForText(card.locator(".request-by"), "by a program");
  assert.deepEqual(await answers(id), ["deny"]);
});

test("a request whose event is not in the log yet has its card a moment later", async () => {
  await endAll();
  const id = await deck.server.session({ title: "Early" });
  await prompt(id, "permission");
  const context = await deck.openContext();
  let asked = 0;
  await context.route(/\/log\?before=\d+&limit=1$/, async (route) => {
    asked += 1;
    if (asked === 1) await route.fulfill({ json: { events: [] } });
    else await route.continue();
  });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#inbox-count", { hasText: "1" }).waitFor();
  await page.locator("#inbox-button").click();
  await ready(group(page, "Early")).waitFor();
  assert.equal(asked, 2);
});

test("a request that the log does not have stays a line, and is asked for twice", async () => {
  await endAll();
  const id = await deck.server.session({ title: "Unknown" });
  await prompt(id, "permission");
  const context = await deck.openContext();
  let asked = 0;
  await context.route(/\/log\?before=\d+&limit=1$/, (route) => {
    asked += 1;
    return route.fulfill({ json: { events: [] } });
  });
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#inbox-count", { hasText: "1" }).waitFor();
  await page.locator("#inbox-button").click();
  await waitFor(() => asked === 2, "the second question");
  // Its next change asks no more.
  await deck.server.call("PATCH", `copilot/session/${id}`, { title: "Unknown still" });
  await group(page, "Unknown still").locator(".inbox-request").waitFor();
  assert.equal(asked, 2);
});

test("a second tab that answers first settles the card, and while an answer is under way nothing else is sent", async () => {
  const { id, page, card } = await asking();
  const context = page.context();
  const second = await context.newPage();
  await second.goto(`${deck.server.url}/?session=${id}`);
  await second.locator("#session-part .request-choice.decision-deny").waitFor();
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await page.route(/\/permission\//, async (route) => {
    await held;
    await route.continue();
  });
  const calls = watchCalls(page, /\/permission\//);
  await card.getByRole("button", { name: "Deny" }).click();
  assert.ok(await card.getByRole("button", { name: "Allow once" }).isDisabled());
  await waitFor(() => calls.all.length > 0, "the answer on its way");
  await page.keyboard.press("Alt+a");
  await page.keyboard.press("1");
  assert.equal(calls.all.length, 1);
  release();
  await waitForText(second.locator("#session-part .request-verdict"), "Denied");
  await waitForText(card.locator(".request-verdict"), "Denied");
});

test("50 requests: all of them with their commands, a card that moves takes no answer, and those that were answered stay in place", async () => {
  await endAll();
  const ids = [];
  for (let number = 1; number <= 50; number += 1) {
    const id = await deck.server.session({ title: `Asks ${String(number).padStart(2, "0")}` });
    await prompt(id, "permission");
    ids.push(id);
  }
  const page = await openSetup(deck);
  // A minute that passes would make cards higher.
  await page.clock.setFixedTime(Date.now());
  await page.locator("#inbox-count", { hasText: "50" }).waitFor();
  await page.locator("#inbox-button").click();
  await waitFor(async () => (await page.locator(".inbox-cards .request-detail").count()) === 50, "all cards");
  await waitFor(async () => (await page.locator(".inbox-cards [aria-disabled]").count()) === 0, "the pause is over");
  const titles = () => page.locator(".inbox-title").allTextContents();
  const before = await titles();
  assert.equal(before[0], "Asks 01", "the longest wait first");
  await page.evaluate(() => {
    window.held = new Set();
    new MutationObserver((changes) => {
      for (const { target } of changes) if (target.getAttribute("aria-disabled") === "true") window.held.add(target.closest("li").querySelector(".inbox-title").textContent);
    }).observe(document.querySelector(".side-panel-body"), { subtree: true, attributes: true, attributeFilter: ["aria-disabled"] });
  });
  await deck.server.call("POST", `copilot/session/${ids[9]}/permission/${await requestOf(ids[9])}`, { decision: "deny" });
  await waitForText(group(page, "Asks 10").locator(".request-verdict"), "Denied");
  await waitFor(() => page.evaluate(() => window.held.has("Asks 11") && window.held.has("Asks 50")), "those below were held");
  assert.ok(await page.evaluate(() => !window.held.has("Asks 09")), "those above did not move");
  assert.deepEqual(await titles(), before);
  await waitFor(async () => (await page.locator(".inbox-cards [aria-disabled]").count()) === 0, "the pause is over");
  await group(page, "Asks 30").getByRole("button", { name: "Allow once" }).click();
  await waitForText(group(page, "Asks 30").locator(".request-verdict"), "Allowed once");
  assert.deepEqual([await answers(ids[29]), await answers(ids[28]), await answers(ids[30])], [["allow-once"], [], []]);
  await page.locator("#inbox-count", { hasText: "48" }).waitFor();
});

test("a session that was deleted elsewhere takes its card with it", async () => {
  // The card may ask how it was answered.
  deck.expectConsoleErrors(/404/);
  const { id, page, card } = await asking();
  const other = await deck.server.session({ title: "Another one" });
  await prompt(other, "permission");
  await ready(group(page, "Another one")).waitFor();
  await deck.server.api("DELETE", `copilot/session/${id}`);
  await card.waitFor({ state: "detached" });
  await ready(group(page, "Another one")).getByRole("button", { name: "Deny" }).click();
  await waitForText(group(page, "Another one").locator(".request-verdict"), "Denied");
});

test("an answer to a session that was deleted says so in words for people", async () => {
  deck.expectConsoleErrors(/404/);
  const { page, card } = await asking();
  await page.route(/\/permission\//, (route) => route.fulfill({ status: 404, json: { error: "SessionNotFound", message: "Session not found; GET /api/copilot/session lists all sessions." } }));
  await card.getByRole("button", { name: "Allow once" }).click();
  await waitForText(card.locator(".request-problem"), "This session was deleted.");
});

test("a server that was restarted in between keeps the card and what was written in it", async () => {
  const { id, page, card } = await asking();
  await card.locator(".request-feedback").fill("Not on a Friday.");
  deck.expectConsoleErrors(/Failed to load resource|ERR_|503|network/i);
  await deck.server.kill();
  await waitForText(page.locator("#connection-status"), /not responding/);
  await deck.server.startAgain();
  await waitFor(async () => (await page.locator("#connection-status").textContent()) === "", "the connection");
  await waitForText(page.locator("#inbox-count"), "1");
  assert.equal(await card.locator(".request-feedback").inputValue(), "Not on a Friday.");
  await card.getByRole("button", { name: "Deny" }).click();
  await waitForText(card.locator(".request-verdict"), "Denied");
  assert.deepEqual(await answers(id), ["deny"]);
});

test("a card whose answer is in the log stays until the log can be read, when the server dies right after it", async () => {
  const { id, page, card } = await asking();
  deck.expectConsoleErrors(/Failed to load resource|ERR_|503|network/i);
  let asked = 0;
  await page.route(/\/log\?before=\d+&limit=60$/, async (route) => {
    asked += 1;
    if (asked === 1) await deck.server.kill();
    await route.continue();
  });
  await card.getByRole("button", { name: "Allow once" }).click();
  await waitFor(() => asked > 1, "the second question");
  assert.equal(await card.locator(".request-block.waiting .request-detail").count(), 1, "it is still there");
  await deck.server.startAgain();
  await waitForText(card.locator(".request-verdict"), "Allowed once");
  await waitForText(card.locator(".request-by"), "in the browser");
  assert.deepEqual(await answers(id), ["allow-once"]);
});

test("a gate of a job is approved from the inbox", async () => {
  await endAll();
  const jobId = await startJob(deck.server, "gate", { workingDirectory: await makeFolder(deck.server, { git: true }) });
  await jobWhen(deck.server, jobId, ({ waiting }) => waiting.length === 1);
  const page = await openSetup(deck);
  await page.locator("#inbox-button").click();
  const card = page.locator(".inbox-cards .gate-request:not(:has([aria-disabled]))");
  await waitForText(card.locator(".request-title"), "Gate Commit these changes?");
  await waitForText(card.locator(".gate-works"), /Succeeded greet/);
  await card.getByRole("button", { name: "Approve" }).click();
  await jobWhen(deck.server, jobId, ({ status }) => status === "Succeeded");
  await card.waitFor({ state: "detached" });
});

test("the next key goes from one that waits to the next, and a typed key answers nothing", async () => {
  await endAll();
  const ids = [];
  for (const title of ["First", "Second"]) {
    const id = await deck.server.session({ title });
    await prompt(id, "permission");
    await waitFor(async () => (await deck.server.call("GET", `copilot/session/${id}`)).pending === 1, "it asks");
    ids.push(id);
  }
  const calm = await deck.server.session({ title: "Calm" });
  const page = await openSession(deck, calm);
  await page.locator("#inbox-count", { hasText: "2" }).waitFor();
  const calls = watchCalls(page, /\/(permission|answer|prompt)(\/|$)/);
  for (const title of ["First", "Second", "First"]) {
    await page.keyboard.press("Alt+n");
    await waitForText(page.locator("#session-title"), title);
    await page.locator("#session-part .request-choice").first().waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), "request-textarea");
    await page.keyboard.type("1");
    await page.keyboard.press("Enter");
  }
  assert.deepEqual(calls.all, []);
  await deck.server.api("DELETE", `copilot/session/${ids[1]}`);
  await page.locator("#inbox-count", { hasText: "1" }).waitFor();
  await page.keyboard.press("Alt+n");
  await waitForText(page.locator("#side-panel-title"), "Inbox");
});

test("a click on a notification opens the session and answers nothing", async () => {
  await endAll();
  const context = await deck.openContext({ permissions: ["notifications"] });
  await context.addInitScript(() => {
    window.shown = [];
    if (location.protocol !== "about:") localStorage.setItem("flightdeck.notifications", "on");
    window.opened = [];
    window.open = (address) => window.opened.push(address);
    window.Notification = class {
      static permission = "granted";
      constructor(title, options) {
        this.title = title;
        this.actions = options.actions ?? [];
        window.shown.push(this);
      }
      close() {}
    };
  });
  const id = await deck.server.session({ title: "Elsewhere" });
  await prompt(await deck.server.session({ title: "Asks before" }), "permission");
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#inbox-button:enabled").waitFor();
  // The stream is there: states from before it are no news.
  await page.locator("#inbox-count", { hasText: "1" }).waitFor();
  await prompt(id, "permission");
  const shown = await page.waitForFunction(() => window.shown.find(({ title }) => title.startsWith("Elsewhere")));
  assert.equal(await shown.evaluate(({ actions }) => actions.length), 0, "no buttons that answer");
  await shown.evaluate((one) => one.onclick());
  assert.deepEqual(await page.evaluate(() => window.opened), [`?session=${id}`]);
  assert.deepEqual(await answers(id), []);
});

test("the decisions of a card stay in order at every width, with long names of rules, and the denial stands apart", async () => {
  const { page, card } = await asking();
  const prefix = "npm run build --workspace=packages/a-rather-long-name-of-a-package -- --mode production";
  await page.route(/\/log\?before=\d+&limit=1$/, async (route) => {
    const reply = await (await route.fetch()).json();
    for (const { response } of reply.events) Object.assign(response, { covers: ["call", "prefix", "tool"], prefix });
    await route.fulfill({ json: reply });
  });
  await page.reload();
  await page.locator("#inbox-button:enabled").click();
  await ready(card).waitFor();
  await card.locator(".request-scope").first().selectOption("prefix");
  assert.equal(await card.locator(".request-scope").first().getAttribute("title"), `commands that begin with ${prefix}`);
  for (const width of [1280, 1000, 480, 390, 360]) {
    await page.setViewportSize({ width, height: 800 });
    const boxes = {};
    for (const name of ["decision-allow-once", "decision-allow-always", "request-scope", "request-scope-place", "decision-deny", "request-feedback"]) boxes[name] = await card.locator(`.${name}`).first().boundingBox();
    const { "decision-allow-once": once, "decision-allow-always": always, "request-scope": covers, "request-scope-place": place, "decision-deny": deny, "request-feedback": feedback } = boxes;
    const bottom = ({ y, height }) => y + height;
    assert.ok([always, deny].every(({ x, width: wide }) => x === once.x && wide === once.width), `${width}: the buttons are a column`);
    assert.ok([covers, place, feedback].every(({ x, width: wide }) => x === covers.x && wide === covers.width), `${width}: what belongs to them is another`);
    assert.ok(Math.abs(covers.y - always.y) < 3 && Math.abs(feedback.y - deny.y) < 3, `${width}: side by side`);
    assert.ok(deny.y - bottom(place) > always.y - bottom(once), `${width}: the denial is apart`);
    assert.ok(await card.locator(".request-choices").evaluate((one) => one.scrollWidth <= one.clientWidth), `${width}: nothing is cut off`);
  }
});
