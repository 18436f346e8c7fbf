// What a page loads: few files, each module once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, JobsStub, openSession, shown, useDeck, waitFor } from "./support/index.mjs";

const deck = useDeck();

/** The paths that a page asks for, without the polls that follow each other. */
function watch(page) {
  const paths = [];
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  return paths;
}

const files = (paths) => paths.filter((path) => !path.startsWith("/api/"));

test("the page of a session asks for little, and for no module of its own", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const page = await (await deck.openContext()).newPage();
  const paths = watch(page);
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  await blocks(page, "Message").first().waitFor();
  assert.ok(files(paths).length <= 8, files(paths).join("\n"));
  const sheets = files(paths).filter((path) => path.endsWith(".css"));
  assert.ok(sheets.length === 1 && /^\/version\/[^/]+\/index\.bundle\.css$/.test(sheets[0]), `one that is kept for good: ${sheets}`);
  const scripts = files(paths).filter((path) => path.endsWith(".js")).map((path) => path.split("/").at(-1));
  assert.deepEqual(scripts.toSorted(), ["early.js", "index.bundle.js", "index.later.js"]);
});

test("every page works with its modules in one file", async () => {
  for (const [path, selector] of [["/index.html", "#start-button:enabled"], ["/jobs.html?wb=/", "#inbox-button:enabled"], ["/jobTracking.html?jobName=review", "#inbox-button:enabled"]]) {
    const context = await deck.openContext();
    await JobsStub.use(context);
    const page = await context.newPage();
    const paths = watch(page);
    await page.goto(deck.server.url + path);
    await page.locator(selector).waitFor();
    const plain = files(paths).filter((one) => one.endsWith(".js") && !/\/version\/[^/]+\/(early|\w+\.(bundle|later))\.js$/.test(one));
    assert.deepEqual(plain, [], path);
  }
});

test("a page is painted before its modules run, unless nobody looks at it", async () => {
  for (const isHidden of [false, true]) {
    const page = await (await deck.openContext()).newPage();
    // A clock that only the test moves: without it, no frame and no time limit.
    await page.clock.install();
    await page.clock.pauseAt(new Date(Date.now() + 60_000));
    if (isHidden) await page.addInitScript(() => Object.defineProperty(document, "hidden", { get: () => true }));
    await page.goto(deck.server.url);
    const setup = page.locator("#setup-ui");
    if (!isHidden) {
      assert.equal(await setup.isHidden(), true, "there was no frame");
      await page.clock.runFor(50);
    }
    await setup.waitFor();
  }
});

test("a second file that cannot be loaded at first is loaded when the server is back", async () => {
  deck.expectConsoleErrors(/ERR_FAILED/);
  const id = await deck.server.session();
  const context = await deck.openContext();
  let refused = 0;
  await context.route(/index\.later\.js/, async (route) => {
    refused += 1;
    if (refused <= 2) await route.abort();
    else await route.continue();
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${id}`);
  await shown(page);
  assert.equal(refused, 3);
});

test("modules of both files share what they have in common", async () => {
  const page = await openSession(deck, await deck.server.session());
  const other = await deck.server.session();
  await deck.server.api("POST", `copilot/session/${other}/prompt`, { text: "permission" });
  // The stream is read by a module of the first file, the number is shown by one of the second.
  await waitFor(async () => (await page.locator("#inbox-count").textContent()) === "1", "the number of requests");
});

test("a browser that has the files asks for none of them again", async () => {
  const context = await deck.openContext();
  const id = await deck.server.session();
  const load = async () => {
    const page = await context.newPage();
    await page.goto(`${deck.server.url}/?session=${id}`);
    await shown(page);
    return page.evaluate(() => performance.getEntriesByType("resource").filter(({ name }) => name.includes("/version/")).map(({ name, transferSize }) => [name.split("/").at(-1), transferSize]));
  };
  await load();
  assert.deepEqual((await load()).filter(([, size]) => size > 0), []);
});
