// Measures how smoothly a session of many blocks scrolls, beside a plain page in the same run, and prints a row for
// docs/benchmarks.md.

import { Deck, waitForText } from "./support/index.mjs";

const BLOCKS = 10_000;
const FRAMES = 240;
const PIXELS_A_FRAME = 60;
const TOO_LONG_MS = 50;

const deck = new Deck({ wholeBrowser: true });
await deck.start();

/** Scrolls so many pixels up in each frame. Returns how long the frames took, and what they did. */
async function scrollUp(page, selector) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const metrics = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  const before = await metrics();
  const frames = await page.evaluate(
    ([selector, count, pixels]) =>
      new Promise((resolve) => {
        const part = document.querySelector(selector);
        const times = [];
        let last = null;
        const step = (now) => {
          if (last !== null) times.push(now - last);
          last = now;
          if (times.length === count) resolve(times);
          else {
            part.scrollTop -= pixels;
            requestAnimationFrame(step);
          }
        };
        requestAnimationFrame(step);
      }),
    [selector, FRAMES, PIXELS_A_FRAME],
  );
  const after = await metrics();
  await session.detach();
  const spent = (name) => ((after[name] - before[name]) * 1000) / FRAMES;
  return { frames, script: spent("ScriptDuration"), layout: spent("LayoutDuration"), style: spent("RecalcStyleDuration") };
}

const scrollBack = (page, selector) =>
  page.evaluate(([selector, pixels]) => new Promise((resolve) => {
    document.querySelector(selector).scrollTop += pixels;
    requestAnimationFrame(() => requestAnimationFrame(resolve));
  }), [selector, FRAMES * PIXELS_A_FRAME]);

/** Everything that can be seen is rendered. */
const rendered = (page) =>
  page.waitForFunction(() => {
    const { top, bottom } = document.querySelector("#session-part").getBoundingClientRect();
    const isInView = (one) => one.getBoundingClientRect().bottom > top && one.getBoundingClientRect().top < bottom;
    return ![...document.querySelectorAll('[data-type="Message"] .message-block-text')].some(isInView);
  });

/** The same way once more, now that it only has to be scrolled. */
async function scrollAgain(page) {
  await rendered(page);
  await scrollBack(page, "#session-part");
  return scrollUp(page, "#session-part");
}

async function plainPage(context) {
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/test.html`);
  await page.evaluate(() => {
    const part = Object.assign(document.createElement("div"), { id: "part" });
    part.style.setProperty("height", "500px");
    part.style.setProperty("overflow-y", "auto");
    for (let number = 0; number < 1500; number += 1) part.append(Object.assign(document.createElement("p"), { textContent: `Line ${number} of a plain page, with some words in it.` }));
    document.body.replaceChildren(part);
    part.scrollTop = part.scrollHeight;
  });
  return page;
}

const id = await deck.server.session();
await deck.server.turn(id, `blocks ${BLOCKS}`);
const context = await deck.openContext({ viewport: { width: 1200, height: 800 } });
const page = await context.newPage();
await page.goto(`${deck.server.url}/?session=${id}`);
await waitForText(page.locator(".message-block").last(), /all the demo's blocks/);
const first = await scrollUp(page, "#session-part");
const second = await scrollAgain(page);
// To the beginning, so that as much of the session is in the document as it ever is, and back into the middle of that.
await page.evaluate(async (selector) => {
  const part = document.querySelector(selector);
  while (document.querySelector('[data-type="User"]') === null) {
    part.scrollTop = 0;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  part.scrollTop = part.scrollHeight / 20;
}, "#session-part");
await rendered(page);
const deep = await scrollUp(page, "#session-part");
const deepAgain = await scrollAgain(page);
const control = await scrollUp(await plainPage(context), "#part");
await deck.end();

const sorted = (numbers) => numbers.toSorted((one, other) => one - other);
const at = (numbers, share) => sorted(numbers)[Math.floor(share * (numbers.length - 1))].toFixed(1);
const told = ({ frames, script, layout, style }) =>
  `median ${at(frames, 0.5)} ms, p95 ${at(frames, 0.95)} ms, ${frames.filter((time) => time > TOO_LONG_MS).length} over ${TOO_LONG_MS} ms (script ${script.toFixed(2)}, layout ${layout.toFixed(2)}, style ${style.toFixed(2)} ms a frame)`;
console.log(`| ${FRAMES} frames of scrolling a session of ${BLOCKS} blocks, second pass | none over ${TOO_LONG_MS} ms | ${told(second)}; first pass ${told(first)}; near its beginning, second pass ${told(deepAgain)}; first pass there ${told(deep)}; a plain page in the same run ${told(control)} |`);
