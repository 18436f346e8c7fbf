// The pages as an app: the manifest, the service worker that keeps the shell, installing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reconnect, Server, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";

const deck = useDeck();
const WITH_WORKER = { serviceWorkers: "allow" };

/** A page whose service worker is active and controls it. */
async function openControlled(context, path = "/") {
  const page = await context.newPage();
  await page.goto(deck.server.url + path);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  return page;
}

const cached = (page) =>
  page.evaluate(async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith("flightdeck-"));
    const keys = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)));
    return { names, paths: keys.flat() };
  });

test("the manifest is linked with credentials and names icons that exist", async () => {
  const page = await deck.openPage("/");
  const link = page.locator('link[rel="manifest"]');
  assert.equal(await link.getAttribute("crossorigin"), "use-credentials");
  const { manifest, sizes } = await page.evaluate(async () => {
    const address = document.querySelector('link[rel="manifest"]').href;
    const manifest = await (await fetch(address, { credentials: "include" })).json();
    const sizes = await Promise.all(
      manifest.icons.map(async ({ src }) => {
        const image = new Image();
        image.src = new URL(src, address).href;
        await image.decode();
        return `${image.naturalWidth}x${image.naturalHeight}`;
      }),
    );
    return { manifest, sizes };
  });
  assert.deepEqual(sizes, manifest.icons.map(({ sizes: wanted }) => wanted));
  assert.ok(manifest.icons.some(({ purpose, sizes: wanted }) => purpose === "maskable" && wanted === "512x512"));
  assert.equal(manifest.display, "standalone");
  const { installabilityErrors } = await (await page.context().newCDPSession(page)).send("Page.getInstallabilityErrors");
  assert.deepEqual(installabilityErrors.map(({ errorId }) => errorId).filter((id) => !["in-incognito", "no-url-for-service-worker"].includes(id)), []);
});

test("the service worker keeps the shell and no data, and never answers for the API", async () => {
  const id = await deck.server.session({ title: "Secret plan" });
  await deck.server.turn(id, "hello");
  const context = await deck.openContext(WITH_WORKER);
  const page = await openControlled(context, `/?session=${id}`);
  await shown(page);
  const { names, paths } = await cached(page);
  assert.equal(names.length, 1);
  assert.ok(paths.includes("/") && paths.includes("/index.css") && paths.some((path) => path.endsWith("/index.later.js")), paths.join("\n"));
  assert.deepEqual(paths.filter((path) => /^\/(api|v1|metrics|login)/.test(path)), []);
  const texts = await page.evaluate(async () => {
    const all = [];
    for (const name of await caches.keys()) for (const answer of await (await caches.open(name)).matchAll()) all.push(await answer.text());
    return all.join("\n");
  });
  assert.ok(!texts.includes("Secret plan") && !texts.includes("fds_"), "no data");
  const answers = [];
  page.on("response", (answer) => new URL(answer.url()).pathname.startsWith("/api/") && answers.push(answer.fromServiceWorker()));
  await page.reload();
  await shown(page);
  assert.ok(answers.length > 0 && !answers.includes(true), `${answers}`);
});

test("without the server the page opens and says so, and continues when the server is back", async () => {
  deck.expectConsoleErrors(/ERR_CONNECTION_REFUSED|ERR_FAILED|503|Failed to load resource/);
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const context = await deck.openContext(WITH_WORKER);
  const page = await openControlled(context, `/?session=${id}`);
  await shown(page);
  await deck.server.stop();
  await page.reload();
  await waitForText(page.locator('[data-banner="connection"] .banner-text'), /Retrying/);
  assert.ok(await page.locator("#request-textarea").isVisible());
  const setup = await context.newPage();
  await setup.goto(`${deck.server.url}/`);
  await waitForText(setup.locator("#connection-status"), /not responding/);
  await deck.server.startAgain();
  await reconnect(page);
  await page.locator(".message-block").first().waitFor();
});

test("a cached page without a login leads to the login, and the login works", async () => {
  deck.expectConsoleErrors(/401/);
  const context = await deck.openContext(WITH_WORKER);
  const page = await openControlled(context);
  await page.evaluate(() => localStorage.clear());
  await context.clearCookies();
  await page.goto(`${deck.server.url}/?project=x`);
  await page.locator("#token").fill(await deck.server.token());
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("#setup-ui").waitFor();
  assert.match(page.url(), /\?project=x$/);
});

test("a link from another site leads to the page", async () => {
  const context = await deck.openContext(WITH_WORKER);
  await openControlled(context);
  const page = await context.newPage();
  deck.expectConsoleErrors(/asked another host/);
  await page.goto(`data:text/html,<a href="${deck.server.url}/?project=mail">here</a>`);
  await page.getByText("here").click();
  await page.locator("#setup-ui").waitFor();
  assert.match(page.url(), /project=mail/);
});

test("a new version of the pages replaces the cache of the old one", async () => {
  const context = await deck.openContext(WITH_WORKER);
  const page = await openControlled(context);
  const { names } = await cached(page);
  // As an earlier version would have left it.
  await page.evaluate(async () => (await caches.open("flightdeck-old")).put("/index.css", new Response("old")));
  await page.evaluate(() => caches.open("another-program"));
  await page.evaluate(async () => {
    await (await navigator.serviceWorker.getRegistration()).unregister();
  });
  // A registration ends with its last page.
  await page.close();
  const next = await openControlled(context);
  await waitFor(async () => (await cached(next)).names.join() === names.join(), "the old cache to go");
  assert.ok((await next.evaluate(() => caches.keys())).includes("another-program"), "others' caches stay");
});

test("a server without authentication has the app too, and each port its own", async () => {
  deck.expectConsoleErrors(/asked another host/);
  const server = await Server.start({ auth: "none" });
  try {
    const context = await deck.openContext(WITH_WORKER);
    await openControlled(context);
    const page = await context.newPage();
    await page.goto(server.url);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    assert.equal((await cached(page)).names.length, 1);
    await page.reload();
    await page.locator("#setup-ui").waitFor();
    // It would miss the server.
    await page.close();
  } finally {
    await server.remove();
  }
});

test("the menu offers to install the app when the browser does", async () => {
  const page = await deck.openPage("/");
  await page.locator("#more-button:enabled").click();
  const entry = page.getByRole("button", { name: "Install as an app" });
  await page.locator("#theme-entry").waitFor();
  assert.equal(await entry.count(), 0);
  await page.keyboard.press("Escape");
  await page.evaluate(() => {
    const offer = new Event("beforeinstallprompt", { cancelable: true });
    offer.prompt = async () => {
      window.wasAsked = true;
    };
    dispatchEvent(offer);
  });
  await page.locator("#more-button").click();
  await entry.click();
  assert.equal(await page.evaluate(() => window.wasAsked), true);
  await page.locator("#more-button").click();
  await page.locator("#theme-entry").waitFor();
  assert.equal(await entry.count(), 0, "the offer is used up");
});
