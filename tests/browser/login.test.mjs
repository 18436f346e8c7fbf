// Logging in: a link that works once, a cookie for pages, and a secret in the page's storage for data.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { blocks, openSession, shown, turn, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();

/** A new link that logs in once. */
async function loginLink(next = "/") {
  const { code } = await deck.server.call("POST", "login-code");
  return `${deck.server.url}/login?code=${code}&next=${encodeURIComponent(next)}`;
}

const secretIn = (page) => page.evaluate(() => localStorage.getItem("flightdeck.secret"));

test("the link logs in, the page streams, and a reload stays logged in", async () => {
  const id = await deck.server.session();
  const page = await (await deck.openStrangersContext()).newPage();
  await page.goto(await loginLink(`/?session=${id}`));
  await shown(page);
  assert.match(await secretIn(page), /^fds_/);
  assert.equal(await page.evaluate(() => document.cookie), "", "scripts do not see the cookie");
  await turn(page, "hello");
  await page.reload();
  await shown(page);
  await waitForText(blocks(page, "Message"), /Hello from the demo/);
  // What other sessions do comes by the stream of events.
  const other = await deck.server.session({ title: "Seen in the stream" });
  await page.locator("#inbox-button").click();
  await page.locator("#side-panel .inbox-entry").first().waitFor();
  await deck.server.api("POST", `copilot/session/${other}/prompt`, { text: "permission" });
  await waitForText(page.locator("#inbox-count"), "1");
});

test("a link that was used says so, and leads on in a browser that is logged in", async () => {
  deck.expectConsoleErrors(/401/);
  const link = await loginLink();
  const context = await deck.openStrangersContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.locator("#setup-ui").waitFor();
  await page.goto(link);
  await page.locator("#setup-ui").waitFor();
  const stranger = await (await deck.openStrangersContext()).newPage();
  await stranger.goto(link);
  await waitForText(stranger.locator("#login-problem"), /already used or has expired.*flightdeck open/);
});

test("the token logs in too, and a wrong one is refused in words", async () => {
  deck.expectConsoleErrors(/401/);
  const page = await (await deck.openStrangersContext()).newPage();
  await page.goto(`${deck.server.url}/?project=x`);
  await page.locator("#token").fill("wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await waitForText(page.locator("#login-problem"), "Wrong token.");
  await page.locator("#token").fill(await deck.server.token());
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("#setup-ui").waitFor();
  assert.match(page.url(), /\?project=x$/);
});

test("a cookie without the secret leads to the login, and back to the page that was wanted", async () => {
  deck.expectConsoleErrors(/401/);
  const id = await deck.server.session();
  const context = await deck.openContext();
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/test.html`);
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${deck.server.url}/?session=${id}`);
  await page.locator("#token").fill(await deck.server.token());
  await page.getByRole("button", { name: "Log in" }).click();
  await shown(page);
  assert.match(page.url(), new RegExp(`session=${id}`));
});

test("another port of this host gets the cookie, and no data with it", async () => {
  let cookie;
  const other = createServer((request, response) => {
    cookie ??= request.headers.cookie;
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><link rel=icon href='data:,'><title>Another program</title>");
  });
  other.listen(0, "localhost");
  await once(other, "listening");
  try {
    const context = await deck.openContext();
    const page = await context.newPage();
    await page.goto(`${deck.server.url}/`);
    const secret = await secretIn(page);
    deck.expectConsoleErrors(/asked another host/);
    const address = `http://localhost:${other.address().port}/`;
    await page.goto(address);
    await page.waitForFunction(() => document.title === "Another program");
    assert.match(cookie, /^flightdeck_\d+=fdc_/, "browsers send cookies to every port");
    assert.equal(await secretIn(page), null, "storage belongs to one port");
    for (const route of ["api/test", "api/copilot/session", "api/events", "metrics"]) {
      assert.equal((await fetch(`${deck.server.url}/${route}`, { headers: { cookie } })).status, 401, route);
    }
    assert.equal((await fetch(`${deck.server.url}/api/test`, { headers: { cookie, "flightdeck-secret": secret } })).status, 200);
  } finally {
    other.closeAllConnections();
    other.close();
  }
});

test("without storage the secret stays in memory, and not in the address", async () => {
  const context = await deck.openStrangersContext();
  await context.addInitScript(() => {
    Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("blocked", "SecurityError"); } });
  });
  const page = await context.newPage();
  await page.goto(await loginLink());
  await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
  assert.doesNotMatch(page.url(), /secret/);
});

test("a whole output that cannot be opened says so beside its link", async () => {
  deck.expectConsoleErrors(/503/);
  const id = await deck.server.session();
  const context = await deck.openContext();
  await context.route(/\/block\//, (route) => route.fulfill({ contentType: "text/html", body: `<p><a class="whole-output" target="_blank" rel="noopener" href="/api/copilot/session/${id}/blob/none">Open the whole output</a></p>` }));
  await context.route("**/api/ticket", (route) => route.fulfill({ status: 503, json: { error: "Busy", message: "No room." } }));
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await turn(page, "hello");
  await page.locator(".whole-output").last().click();
  await waitForText(page.locator('.whole-output + [role="alert"]'), "Could not open the whole output: No room.");
});

test("the whole of an output opens in a new tab, by an address that works once", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "tool 300000");
  const end = (await deck.server.log(id)).find(({ response }) => response.callback === "onEndToolExecution");
  const address = `/api/copilot/session/${id}/blob/${end.response.result.contentBlob}`;
  const context = await deck.openContext();
  await context.route(/\/block\//, (route) => route.fulfill({ contentType: "text/html", body: `<p><a class="whole-output" target="_blank" rel="noopener" href="${address}">Open the whole output</a></p>` }));
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  // Two messages that are wanted together would be asked for together, by another route.
  await page.locator(".whole-output").waitFor();
  await turn(page, "hello");
  // A page without an origin asks for an icon without a login.
  deck.expectConsoleErrors(/favicon\.ico/);
  const [opened] = await Promise.all([context.waitForEvent("page"), page.locator(".whole-output").last().click()]);
  await opened.waitForFunction(() => document.body?.textContent.length > 250_000);
  const again = await fetch(opened.url());
  assert.equal(again.status, 401, "a second time");
});
