// Measures how soon the page of a session shows something, with an empty browser cache each time and with a warm one, and prints rows
// for docs/benchmarks.md.

import { Deck } from "./support/index.mjs";

const LOADS = 9;
const BLOCKS = 10_000;

const deck = new Deck({ wholeBrowser: true });
await deck.start();

async function session(blocks) {
  const id = await deck.server.session();
  await deck.server.turn(id, blocks === 0 ? "hello" : `blocks ${blocks}`);
  return id;
}

/** When the first thing was painted, and when the end of the conversation was, in milliseconds. */
async function load(id, page) {
  await page.goto(`${deck.server.url}/?session=${id}`);
  return page.evaluate(async () => ({
    conversation: await window.shown,
    first: await new Promise((resolve) => {
      const said = (list) => list.getEntriesByName("first-contentful-paint")[0];
      new PerformanceObserver((list) => said(list) && resolve(said(list).startTime)).observe({ type: "paint", buffered: true });
    }),
  }));
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
  return load(id, page);
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** Medians of several loads, one after the other. */
async function figures(loadOnce) {
  const loads = [];
  for (let number = 0; number < LOADS; number += 1) loads.push(await loadOnce());
  return { first: median(loads.map(({ first }) => first)), conversation: median(loads.map(({ conversation }) => conversation)) };
}

const [short, long] = [await session(0), await session(BLOCKS)];
// The first load of a browser is its own affair, and fills the cache.
const warm = await openTab(await deck.openContext());
await load(short, warm);
const [ofShort, ofLong] = [await figures(() => loadCold(short)), await figures(() => loadCold(long))];
const [warmShort, warmLong] = [await figures(() => loadFromHome(short, warm)), await figures(() => loadFromHome(long, warm))];
// The long page that is left takes its time as well.
const [againShort, againLong] = [await figures(() => load(short, warm)), await figures(() => load(long, warm))];
await deck.end();
const ms = (number) => `${number.toFixed(0)} ms`;
const row = (what, aim, one, other) =>
  console.log(`| page of a session of ${BLOCKS} blocks, ${what} | first paint under ${aim} ms | first paint ${ms(one.first)}, conversation ${ms(one.conversation)} (medians of ${LOADS}; a session of one turn: ${ms(other.first)} and ${ms(other.conversation)}) |`);
row("empty browser cache", 300, ofLong, ofShort);
row("warm browser cache, from the home page", 150, warmLong, warmShort);
row("warm browser cache, loaded again", 150, againLong, againShort);
