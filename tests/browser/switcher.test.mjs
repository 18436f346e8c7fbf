// Ctrl+K: sessions, jobs, commands and texts by a few letters.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccessibility, openSession, openSetup, shown, turn, useDeck, waitFor, waitForText, watchCalls } from "./support/index.mjs";
import { foundBlock, noteFound } from "./support/foundBlock.mjs";
import { ENTRY, jobWhen, makeFolder, openJob, startJob } from "./support/realJobs.mjs";

const deck = useDeck({ jobs: ENTRY });
const option = (page, text) => page.locator(".switcher-option", { hasText: text });
const marked = (page) => page.locator('.switcher-option[aria-selected="true"]');
const prompt = (id, text) => deck.server.call("POST", `copilot/session/${id}/prompt`, { text });

async function openSwitcher(page) {
  await page.keyboard.press("Control+k");
  await page.locator(".switcher-option").first().waitFor();
}

test("a few letters and Enter open a session, from wherever the focus is", async () => {
  const here = await deck.server.session({ title: "Here" });
  await deck.server.session({ title: "Fix the failing login test" });
  const page = await openSession(deck, here);
  await page.locator("#request-textarea").fill("a draft");
  for (const query of ["login", "flt", "failing fix", "FAIL"]) {
    await openSwitcher(page);
    await page.keyboard.type(query);
    await waitForText(marked(page).locator(".switcher-name"), /^Fix the failing login test/);
    await page.keyboard.press("Escape");
    await page.locator(".switcher").waitFor({ state: "detached" });
  }
  await openSwitcher(page);
  await page.keyboard.type("login");
  await page.keyboard.press("Enter");
  await waitForText(page.locator("#session-title"), "Fix the failing login test");
  assert.equal(await page.evaluate(() => document.activeElement.id), "request-textarea");
  assert.equal(await page.locator("#request-textarea").inputValue(), "", "Enter wrote nothing there");
  await page.goBack();
  await waitForText(page.locator("#session-title"), "Here");
});

test("what waits comes first, arrows move, and the marked option is announced", async () => {
  const [waits, other] = [await deck.server.session({ title: "Waits" }), await deck.server.session({ title: "Other" })];
  await prompt(waits, "permission");
  const page = await openSession(deck, other);
  await page.locator("#inbox-count", { hasText: "1" }).waitFor();
  await openSwitcher(page);
  await waitForText(marked(page).locator(".switcher-name"), /^Waits/);
  await page.keyboard.press("ArrowDown");
  const input = page.locator(".switcher-input");
  assert.equal(await input.getAttribute("aria-activedescendant"), await marked(page).getAttribute("id"));
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.locator(".switcher-option").last().getAttribute("aria-selected"), "true", "around the end");
  await checkAccessibility(page, "the switcher");
  await page.keyboard.press("Control+k");
  await page.locator(".switcher").waitFor({ state: "detached" });
});

test("what is marked stays marked when jobs come late, and another query begins with its best", async () => {
  const workingDirectory = await makeFolder(deck.server);
  const jobId = await startJob(deck.server, "gate", { workingDirectory });
  await jobWhen(deck.server, jobId, ({ waiting }) => waiting.length === 1);
  await deck.server.session({ title: "Another" });
  const context = await deck.openContext();
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await context.route(/\/api\/jobs\?limit=/, async (route) => {
    await held;
    await route.continue();
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${await deck.server.session({ title: "Late jobs" })}`);
  await shown(page);
  await openSwitcher(page);
  await option(page, "Another").first().waitFor();
  await page.keyboard.press("ArrowDown");
  const choice = await marked(page).getAttribute("data-choice");
  release();
  await page.locator(`.switcher-option[data-choice="${jobId}"]`).waitFor();
  assert.equal(await marked(page).getAttribute("data-choice"), choice);
  assert.equal(await page.locator(".switcher-input").getAttribute("aria-activedescendant"), await marked(page).getAttribute("id"));
  await page.keyboard.type("another");
  assert.equal(await page.locator(".switcher-option").first().getAttribute("aria-selected"), "true");
});

test("nothing that Enter takes answers, ends or deletes anything", async () => {
  const id = await deck.server.session({ title: "Asks for something" });
  await prompt(id, "permission");
  const page = await openSession(deck, id);
  await page.locator(".request-choice").first().waitFor();
  const calls = watchCalls(page, /\/(permission|answer|stop|interrupt|retry|ask-again|prompt)(\/|$)/);
  await openSwitcher(page);
  await page.keyboard.type(">");
  const labels = await page.locator(".switcher-option .switcher-name").allTextContents();
  for (const wanted of ["New session", "Inbox", "Changes", "Export as Markdown", "Usage and cost", "System check", "Keyboard shortcuts", "Next that needs your input"]) assert.ok(labels.includes(wanted), `${wanted} in ${labels}`);
  assert.ok(!labels.some((label) => /allow|deny|delete|stop|close session|interrupt/i.test(label)), labels.join());
  await page.keyboard.press("Escape");
  for (const query of ["allow", "deny", "delete", "stop server", "1"]) {
    await openSwitcher(page);
    await page.keyboard.type(query);
    await page.keyboard.press("Enter");
    if (await page.locator(".switcher").count()) await page.keyboard.press("Escape");
  }
  await shown(page);
  await page.keyboard.type("1");
  assert.deepEqual(calls.all, []);
  const log = await deck.server.log(id);
  assert.ok(!log.some(({ response }) => response.callback === "onPermissionAnswered"));
});

test("commands open what they name", async () => {
  const page = await openSession(deck, await deck.server.session({ title: "Commands" }));
  const take = async (query) => {
    await openSwitcher(page);
    await page.keyboard.type(query);
    await page.keyboard.press("Enter");
  };
  for (const [query, title] of [[">changes", "Changes"], [">details", "Session"], ["diagnostics", "System check"], [">keys", "Keyboard shortcuts"], [">inbox", "Inbox"]]) {
    await take(query);
    await waitForText(page.locator("#side-panel-title"), title);
  }
  await take("dark");
  await take("dark");
  assert.ok(["light", "dark"].includes(await page.evaluate(() => document.documentElement.dataset.theme)));
  const download = page.waitForEvent("download");
  await take(">markdown");
  assert.match((await download).suggestedFilename(), /\.md$/);
  await take(">new session");
  await page.locator("#setup-ui:visible").waitFor();
  await page.locator("#more-button").click();
  await page.getByRole("button", { name: /Go to/ }).last().click();
  await page.locator(".switcher").waitFor();
});

test("texts of all sessions are found below, and lead to their place", async () => {
  const id = await deck.server.session({ title: "A long story" });
  await deck.server.turn(id, "hello reconciliation <b>ledger</b>");
  const page = await openSetup(deck);
  await openSwitcher(page);
  await waitFor(async () => {
    await page.locator(".switcher-input").fill("");
    await page.keyboard.type("reconciliation");
    await page.locator(".switcher-note, .switcher-snippet").filter({ hasNotText: "Searching" }).first().waitFor();
    return (await page.locator(".switcher-snippet").count()) > 0;
  }, "the index");
  const hit = page.locator(".switcher-option", { has: page.locator(".switcher-snippet") }).first();
  assert.equal(await hit.locator("mark").first().textContent(), "reconciliation");
  assert.equal(await page.locator(".switcher-snippet b").count(), 0, "markup is text");
  await noteFound(page);
  await hit.click();
  await waitForText(page.locator("#session-title"), "A long story");
  await foundBlock(page, "reconciliation");
  assert.match(page.url(), /event=\d+/);
});

test("a long text leaves the name of its session its room", async () => {
  const names = ["Ledger", `Ledger ${"of many words ".repeat(12)}`];
  for (const title of names) {
    const id = await deck.server.session({ title });
    await deck.server.turn(id, `hello ${"zebra crossing ".repeat(40)}`);
  }
  const page = await openSetup(deck);
  await openSwitcher(page);
  const hits = page.locator(".switcher-option", { has: page.locator(".switcher-snippet") });
  await waitFor(async () => {
    await page.locator(".switcher-input").fill("");
    await page.keyboard.type("zebra crossing");
    await page.locator(".switcher-note, .switcher-snippet").filter({ hasNotText: "Searching" }).first().waitFor();
    const found = await hits.locator(".switcher-aside").allTextContents();
    return names.every((name) => found.some((text) => text.trim() === name.trim()));
  }, "the index");
  const widths = await hits.evaluateAll((all) => all.map((hit) => {
    const [aside, text] = [hit.querySelector(".switcher-aside"), hit.querySelector(".switcher-text")];
    return { name: aside.textContent.trim(), isWhole: aside.scrollWidth <= aside.clientWidth, share: aside.clientWidth / text.clientWidth };
  }));
  for (const { name, isWhole, share } of widths) assert.ok(isWhole || share > 0.35, `${name}: ${share}`);
});

test("jobs are found, and on their page the keys are the same", async () => {
  const workingDirectory = await makeFolder(deck.server);
  const jobId = await startJob(deck.server, "gate", { workingDirectory });
  await jobWhen(deck.server, jobId, ({ waiting }) => waiting.length === 1);
  const session = await deck.server.session({ title: "Beside the job" });
  const page = await openSession(deck, session);
  await openSwitcher(page);
  await page.keyboard.type("gate");
  await option(page, "gate").first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/jobTracking\.html/);
  const job = await openJob(deck, "gate", jobId);
  await openSwitcher(job);
  await job.keyboard.type("beside");
  await option(job, "Beside the job").first().waitFor();
  await job.keyboard.press("Enter");
  await waitForText(job.locator("#session-title"), "Beside the job");
});

test("a failing search says so and leaves the rest", async () => {
  const id = await deck.server.session({ title: "Findable" });
  const page = await openSession(deck, id);
  await turn(page, "hello");
  await page.route(/copilot\/search/, (route) => route.fulfill({ status: 503, json: { error: "Unavailable", message: "The index is being built." } }));
  deck.expectConsoleErrors(/503/);
  await openSwitcher(page);
  await page.keyboard.type("findable");
  await waitForText(page.locator(".switcher-note"), "Could not search: The index is being built.");
  await waitForText(marked(page).locator(".switcher-name"), /^Findable/);
});

test("letters fit words and beginnings of words, and the best comes first", async () => {
  const page = await openSetup(deck);
  const scores = await page.evaluate(async () => {
    const { score } = await import("/switcher/fuzzy.js");
    const rank = (query, texts) => texts.map((text) => [text, score(query, text)]).filter(([, points]) => points !== null).toSorted((one, other) => other[1] - one[1]).map(([text]) => text);
    return [
      rank("log", ["Catalog", "Login", "Fix the log"]),
      rank("flt", ["Fix the failing login test", "flat"]),
      rank("hel", ["Theme: light", "System check", "hello"]),
      rank("fix login", ["login first", "Fix the login", "login, then fix it all"]),
      rank("", ["anything"]),
      score("a".repeat(2000), "b"),
    ];
  });
  assert.deepEqual(scores, [["Login", "Fix the log", "Catalog"], ["Fix the failing login test"], ["hello"], ["Fix the login", "login, then fix it all"], ["anything"], null]);
});
