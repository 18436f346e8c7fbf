// Agents: what is missing, logging in from the page, sessions of their own, the check of the machine.
//
// No test can log in to GitHub, so the answers of these routes are given here, as the API describes them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

const LOGGED_OUT = {
  name: "copilot",
  agent: "copilot",
  title: "GitHub Copilot",
  default: true,
  ready: false,
  hint: "Nobody is logged in to GitHub Copilot; log in here, or run `copilot login`.",
  capabilities: {},
  login: { state: "logged-out", canLogIn: true },
  program: { path: "/opt/copilot", version: "1.0.102", source: "path" },
};

/** A context whose agents are ours: `state.loggedIn` says whether somebody is logged in. */
async function copilotContext(state = {}) {
  const context = await deck.openContext();
  await context.route(/\/api\/runtimes$/, (route) =>
    route.fulfill({ json: { runtimes: [state.loggedIn ? { ...LOGGED_OUT, ready: true, hint: "Ready.", login: { state: "logged-in", who: "somebody", canLogIn: true } } : LOGGED_OUT] } }),
  );
  await context.route(/\/api\/models(\?|$)/, (route) =>
    route.fulfill({
      json: state.loggedIn
        ? { models: [{ runtime: "copilot", name: "GPT-5.2", id: "gpt-5.2", listedId: "gpt-5.2", multiplier: 1 }], notes: [] }
        : { models: [{ runtime: "demo", name: "Demo", id: "demo", listedId: "demo", multiplier: 0 }], notes: [{ runtime: "copilot", reason: "Nobody is logged in." }] },
    }),
  );
  return context;
}

/** Plays a login: each question is answered with the next of `steps`; the last one stays. */
async function playLogin(context, steps, state) {
  const asked = [];
  let step = 0;
  await context.route(/\/api\/runtimes\/copilot\/login$/, (route) => {
    const method = route.request().method();
    asked.push(`${method} ${route.request().postData() ?? ""}`.trim());
    if (method === "DELETE") return route.fulfill({ status: 204 });
    if (method === "POST") step = 0;
    const answer = steps[Math.min(step, steps.length - 1)];
    step += 1;
    if (answer.state === "succeeded") state.loggedIn = true;
    return route.fulfill({ status: method === "POST" ? 202 : 200, json: answer });
  });
  return asked;
}

const WAITING = { state: "waiting", address: "https://github.com/login/device", code: "ABCD-1234" };

async function open(context) {
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  return page;
}

test("what is missing for an agent is said once, with one button", async () => {
  const page = await open(await copilotContext());
  await waitForText(page.locator("#agent-line"), /^GitHub Copilot is not logged in\./);
  assert.deepEqual(await page.locator("#agent-line button").allTextContents(), ["Log in"]);
  await page.locator("#agents > summary").click();
  const row = page.locator('.runtime-row[data-runtime="copilot"]');
  await waitForText(row.locator(".runtime-hint"), "GitHub Copilot is not logged in.");
  await waitForText(row.locator(".runtime-facts"), /1\.0\.102 · \/opt\/copilot · not logged in/);
  assert.equal(await row.getByRole("button").count(), 1);
});

test("a login shows code and address, waits, and afterwards the models are there", async () => {
  const state = {};
  const context = await copilotContext(state);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const steps = [WAITING];
  const asked = await playLogin(context, steps, state);
  const page = await open(context);
  await page.locator("#agent-line").getByRole("button", { name: "Log in" }).click();
  const dialog = page.locator("dialog");
  await waitForText(dialog.locator(".login-code code"), "ABCD-1234");
  const link = dialog.getByRole("link", { name: WAITING.address });
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  await dialog.getByRole("button", { name: "Copy the code" }).click();
  await waitFor(async () => (await page.evaluate(() => navigator.clipboard.readText())) === "ABCD-1234", "the copy");
  steps.push({ state: "succeeded", message: "Logged in as somebody." });
  await waitForText(dialog.locator(".login-done"), /Logged in as somebody/);
  await waitForText(page.locator("#model-select option"), "GPT-5.2");
  await dialog.getByRole("button", { name: "Close" }).click();
  // Agents and models are asked for apart.
  await page.locator("#agent-line").waitFor({ state: "hidden" });
  assert.ok(!asked.some((call) => call.startsWith("DELETE")), "what succeeded is not cancelled");
});

test("a login that is left is cancelled, and one that fails says why and can be tried again", async () => {
  const context = await copilotContext();
  const asked = await playLogin(context, [WAITING], {});
  const page = await open(context);
  await page.locator("#agents > summary").click();
  await page.locator(".runtime-row").getByRole("button", { name: "Log in" }).click();
  await waitForText(page.locator(".login-code code"), "ABCD-1234");
  await page.keyboard.press("Escape");
  await waitFor(() => asked.includes("DELETE"), "the end of the login");
  await context.unroute(/\/api\/runtimes\/copilot\/login$/);
  const again = await playLogin(context, [{ state: "failed", message: "The machine has no keyring to keep the login in." }], {});
  await page.locator(".runtime-row").getByRole("button", { name: "Log in" }).click();
  await waitForText(page.locator("dialog .field-problem"), /no keyring/);
  await page.getByRole("button", { name: "Store the login in a plain-text file" }).click();
  await waitFor(() => again.includes('POST {"plainText":true}'), "the login in plain text");
});

test("an agent's own session is gone on with here", async () => {
  const id = await deck.server.session({ title: "Adopted" });
  const context = await deck.openContext();
  const own = (agentSessionId, more) => ({ runtime: "copilot", agentSessionId, title: null, workingDirectory: "/home/me/project", createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-02T00:00:00Z", ...more });
  await context.route(/\/api\/agent-sessions$/, (route) => route.fulfill({ json: { sessions: [own("abc", { title: "From the <i>terminal</i>" }), own("def", { adoptedAs: id })], problems: [{ runtime: "other", message: "It does not list them." }] } }));
  await context.route(/\/api\/agent-sessions\/copilot\/abc\/adopt$/, (route) => route.fulfill({ status: 201, json: { sessionId: id } }));
  const page = await context.newPage();
  await page.goto(deck.server.url);
  assert.ok(await page.locator("#agent-session-list").isHidden());
  await page.locator("#agent-sessions-button").click();
  await waitForText(page.locator(".agent-session-row .session-link").first(), "From the <i>terminal</i>");
  await waitForText(page.locator("#agent-session-list .field-hint"), /It does not list them/);
  assert.equal(await page.locator('[data-agent-session="def"] a').getAttribute("href"), `?session=${id}`);
  await page.getByRole("button", { name: /Continue From.* here/ }).click();
  await shown(page);
  await waitForText(page.locator("#session-title"), "Adopted");
});

test("a session that cannot be taken over says why", async () => {
  deck.expectConsoleErrors(/409/);
  const context = await deck.openContext();
  await context.route(/\/api\/agent-sessions$/, (route) => route.fulfill({ json: { sessions: [{ runtime: "copilot", agentSessionId: "abc", title: "Busy", workingDirectory: null, createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-02T00:00:00Z" }], problems: [] } }));
  await context.route(/\/adopt$/, (route) => route.fulfill({ status: 409, json: { error: "Busy", message: "Another program uses this session." } }));
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await page.locator("#agent-sessions-button").click();
  await page.getByRole("button", { name: /Continue .* here/ }).click();
  await waitForText(page.locator(".agent-session-row .field-problem"), "Another program uses this session.");
});

test("the system check shows what is ready first, then groups its results by agent", async () => {
  const context = await deck.openContext();
  await context.route(/\/api\/doctor$/, (route) =>
    route.fulfill({
      json: {
        verdict: "warning",
        ready: [{ runtime: "demo", hint: "built in" }],
        checks: [
          { group: "machine", name: "data folder", verdict: "ok", message: "/data is writable" },
          { group: "copilot", name: "copilot: login", verdict: "warning", message: "not logged in", hint: "run `copilot login`" },
          { group: "claude", name: "claude: program", verdict: "info", message: "not installed", hint: "run `flightdeck agents install claude`" },
          { group: "copilot", name: "copilot: program", verdict: "ok", message: "found" },
        ],
      },
    }),
  );
  const page = await openSetupIn(context);
  await page.locator("#more-button").click();
  await page.getByRole("button", { name: "System check" }).click();
  await waitForText(page.locator(".check-summary"), /works, with the warnings/);
  await waitForText(page.locator(".check-ready li"), "demo: built in");
  assert.equal(await page.locator(".check-ready + .check-summary").count(), 1, "what is ready comes first");
  await waitForText(page.locator('.check-row[data-verdict="warning"] .check-hint'), "run copilot login");
  assert.deepEqual(await page.locator(".check-group h3").allTextContents(), ["This machine", "copilot", "claude"]);
  assert.deepEqual(await page.locator('.check-group[data-group="copilot"] .check-line b').allTextContents(), ["login", "program"]);
  await waitForText(page.locator('.check-row[data-verdict="info"] .state'), "Info");
});

test("the system check says when no agent is ready", async () => {
  const context = await deck.openContext();
  await context.route(/\/api\/doctor$/, (route) => route.fulfill({ json: { verdict: "ok", ready: [], checks: [] } }));
  const page = await openSetupIn(context);
  await page.locator("#more-button").click();
  await page.getByRole("button", { name: "System check" }).click();
  await waitForText(page.locator(".check-ready"), "No agent is ready.");
});

test("the system check shows the last conformance result, what failed first and what it switches off", async () => {
  const context = await deck.openContext();
  const check = (id, passed, capabilities) => ({ id, area: "hold", assumption: `It is so: ${id}.`, why: "It matters.", capabilities, passed, seen: "2 model calls" });
  const checks = [check("hold.waits", true, ["hold"]), check("deny.built-in", false, ["hold", "destroy"])];
  const report = { runtime: "copilot", program: "/bin/copilot", version: "1.0.102", at: "2026-03-01T10:00:00.000Z", milliseconds: 5, checks };
  await context.route(/\/api\/doctor$/, (route) => route.fulfill({ json: { verdict: "ok", ready: [], checks: [] } }));
  await context.route(/\/api\/conformance$/, (route) => route.fulfill({ json: { reports: [report], history: [], problem: "Cannot read conformance.json" } }));
  const page = await openSetupIn(context);
  await page.locator("#more-button").click();
  await page.getByRole("button", { name: "System check" }).click();
  const section = page.locator('.check-group[data-conformance="copilot"]');
  await waitForText(section.locator("h3"), "Conformance of copilot 1.0.102");
  assert.match(await section.textContent(), /1 of 2 checks failed/);
  const failed = section.locator('.check-row[data-verdict="failure"]');
  assert.match(await failed.textContent(), /deny\.built-in.*It matters\. Observed: 2 model calls\. Disabled for this version: hold, destroy\./);
  await section.locator("summary").click();
  assert.match(await section.locator('details .check-row[data-verdict="ok"]').textContent(), /hold\.waits/);
  await waitForText(page.getByRole("alert"), "Cannot read conformance.json");
});

async function openSetupIn(context) {
  const page = await context.newPage();
  await page.goto(deck.server.url);
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  return page;
}

test("a session that needs a login says so, keeps the prompt and tries again", async () => {
  const id = await deck.server.session({ title: "Logged out" });
  const state = {};
  const context = await copilotContext(state);
  await playLogin(context, [WAITING, { state: "succeeded" }], state);
  const retried = [];
  await context.route(new RegExp(`/api/copilot/session/${id}$`), async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), runtime: "copilot", state: "needs-login", stateDetail: "Not authenticated." } });
  });
  const news = () => `data: ${JSON.stringify({ sessionId: id, title: "Logged out", state: retried.length > 0 ? "working" : "needs-login", detail: "Not authenticated.", pending: [] })}\n\n`;
  await context.route(/\/api\/events$/, (route) => route.fulfill({ contentType: "text/event-stream", body: news() }));
  await context.route(/\/retry$/, async (route) => {
    retried.push(route.request().method());
    await route.fulfill({ status: 202, json: { state: "working" } });
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await waitForText(page.locator('[data-banner="state"] .banner-text'), /needs a login\. Not authenticated\. Your prompt is kept/);
  await page.locator('[data-banner="state"]').getByRole("button", { name: "Log in" }).click();
  await waitForText(page.locator("dialog .login-done"), /logged in/);
  await page.locator("dialog").getByRole("button", { name: "Close" }).click();
  await waitFor(() => retried.length === 1, "the next try");
  await page.locator('[data-banner="state"]').waitFor({ state: "detached" });
});
