// The harness itself: a test may end while the page still waits for something.

import assert from "node:assert/strict";
import { test } from "node:test";
import { useDeck } from "./support/index.mjs";

const deck = useDeck();

for (const routed of ["context", "page"]) {
  test(`a request that a route of the ${routed} still handles when the test ends is no failure`, async () => {
    const unhandled = [];
    const note = (reason) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    const context = await deck.openContext();
    const page = await context.newPage();
    const held = withResolvers();
    const asked = withResolvers();
    const failed = withResolvers();
    await { context, page }[routed].route(/\/api\/runtimes$/, async (route) => {
      asked.resolve();
      await held.promise;
      try {
        await route.fetch();
      } catch (error) {
        failed.resolve(error);
        throw error;
      }
    });
    await page.goto(deck.server.url);
    await asked.promise;
    await deck.endTest();
    held.resolve();
    assert.match(String(await failed.promise), /closed/);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    assert.deepEqual(unhandled, []);
  });
}

test("a context that the test has closed itself is no failure", async () => {
  const context = await deck.openContext();
  await context.route(/\/api\/runtimes$/, (route) => route.abort());
  await context.close();
  await assert.doesNotReject(deck.endTest());
});

function withResolvers() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}
