// Measures how soon the page of a session shows something, with an empty browser cache each time, and prints rows for
// docs/benchmarks.md.

import { Deck } from "./support/index.mjs";

const LOADS = 9;
const BLOCKS = 10_000;

const deck = new Deck();
await deck.start();

async function session(blocks) {
  const id = await deck.server.session();
  await deck.server.turn(id, blocks === 0 ? "hello" : `blocks ${blocks}`);
  return id;
}

/** When the first thing was painted, and when the end of the conversation was, in milliseconds. */
async function load(id) {
  const context = await deck.openContext();
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
  await page.goto(`${deck.server.url}/?session=${id}`);
  const figures = await page.evaluate(async () => ({
    conversation: await window.shown,
    first: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  }));
  await context.close();
  return figures;
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];

async function figures(id) {
  const loads = [];
  for (let number = 0; number < LOADS; number += 1) loads.push(await load(id));
  return { first: median(loads.map(({ first }) => first)), conversation: median(loads.map(({ conversation }) => conversation)) };
}

const [short, long] = [await session(0), await session(BLOCKS)];
// The first load of a browser is its own affair.
await load(short);
const [ofShort, ofLong] = [await figures(short), await figures(long)];
await deck.end();
const ms = (number) => `${number.toFixed(0)} ms`;
console.log(
  `| page of a session of ${BLOCKS} blocks, empty browser cache | first paint under 300 ms | first paint ${ms(ofLong.first)}, conversation ${ms(ofLong.conversation)} (medians of ${LOADS}; a session of one turn: ${ms(ofShort.first)} and ${ms(ofShort.conversation)}) |`,
);
