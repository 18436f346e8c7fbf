// Measures how soon the page of a session shows something, with an empty browser cache each time and with a warm one, and prints rows
// for docs/benchmarks.md.

import { createServer } from "node:http";
import { Deck } from "./support/index.mjs";

const LOADS = 9;
const BLOCKS = 10_000;
const SETTLED_MS = 700;

const deck = new Deck({ wholeBrowser: true });
await deck.start();

async function session(blocks) {
  const id = await deck.server.session();
  await deck.server.turn(id, blocks === 0 ? "hello" : `blocks ${blocks}`);
  return id;
}

/** When the first thing was painted, in milliseconds. */
const firstPaint = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const said = (list) => list.getEntriesByName("first-contentful-paint")[0];
        new PerformanceObserver((list) => said(list) && resolve(said(list).startTime)).observe({ type: "paint", buffered: true });
      }),
  );

/** When the first thing was painted, and when the end of the conversation was. */
async function load(id, page) {
  await page.goto(`${deck.server.url}/?session=${id}`);
  const conversation = await page.evaluate(() => window.shown);
  return { conversation, first: await firstPaint(page) };
}

/** A tab that notes when it shows the conversation. */
async function openTab(context) {
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.shown = new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (!document.querySelector(".message-block")) return;
        observer.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
      }).observe(document, { childList: true, subtree: true });
    });
  });
  return page;
}

async function loadCold(id) {
  const context = await deck.openContext();
  const figures = await load(id, await openTab(context));
  await context.close();
  return figures;
}

/** From the home page, as a person opens a session. */
async function loadFromHome(id, page) {
  await page.goto(deck.server.url);
  await page.locator("#start-button:enabled").waitFor();
  return loadNext(id, page);
}

/** From what the tab shows. A person has looked at it: it is not still busy with its own load. */
async function loadNext(id, page) {
  await page.waitForTimeout(SETTLED_MS);
  return load(id, page);
}

async function loadInNewTab(loadOnce, context) {
  const page = await openTab(context);
  await page.waitForTimeout(SETTLED_MS);
  const figures = await loadOnce(page);
  await page.close();
  return figures;
}

/**
 * The control: a page with nothing but a line of text. What it needs, every page needs on this machine. It has the header that
 * gives a new tab a process of its own.
 */
async function loadPlain(page) {
  await page.goto(plainAddress);
  return { first: await firstPaint(page), conversation: 0 };
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** Medians of several loads, one after the other. */
async function figures(loadOnce) {
  const loads = [];
  for (let number = 0; number < LOADS; number += 1) loads.push(await loadOnce());
  return { first: median(loads.map(({ first }) => first)), conversation: median(loads.map(({ conversation }) => conversation)) };
}

const plain = createServer((_, answer) => answer.setHeader("content-type", "text/html").setHeader("cross-origin-opener-policy", "same-origin").end("<!doctype html><title>Plain</title><p>A line of text"));
await new Promise((resolve) => plain.listen(0, "127.0.0.1", resolve));
const plainAddress = `http://127.0.0.1:${plain.address().port}/`;

const [short, long] = [await session(0), await session(BLOCKS)];
// The first load of a browser is its own affair, and fills the cache.
const context = await deck.openContext();
const warm = await openTab(context);
await load(short, warm);
const rows = [];
async function measure(what, aim, loadOnce, ofPlain = null) {
  rows.push({ what, aim, long: await figures(() => loadOnce(long)), short: await figures(() => loadOnce(short)), plain: ofPlain && (await figures(ofPlain)) });
}
await measure("empty browser cache", "first paint under 300 ms", loadCold);
await measure("warm browser cache, from the home page", "first paint under 150 ms", (id) => loadFromHome(id, warm));
await measure("warm browser cache, loaded again", "first paint under 150 ms", (id) => loadNext(id, warm), () => loadPlain(warm));
await measure("warm browser cache, in a new tab", "first paint under 150 ms", (id) => loadInNewTab((page) => load(id, page), context), () => loadInNewTab(loadPlain, context));
plain.close();
await deck.end();
const ms = (number) => `${number.toFixed(0)} ms`;
for (const { what, aim, long: ofLong, short: ofShort, plain: ofPlain } of rows) {
  const control = ofPlain ? `; first paint of a plain page: ${ms(ofPlain.first)}` : "";
  console.log(
    `| page of a session of ${BLOCKS} blocks, ${what} | ${aim} | first paint ${ms(ofLong.first)}, conversation ${ms(ofLong.conversation)} (medians of ${LOADS}; a session of one turn: ${ms(ofShort.first)} and ${ms(ofShort.conversation)}${control}) |`,
  );
}
