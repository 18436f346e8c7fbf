// The search box: sessions by title, hits in their texts, and the way from a hit to its block.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { blocks, checkAccessibility, openSession, openSetup, shown, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { foundBlock, noteFound } from "./support/foundBlock.mjs";

const deck = useDeck();

const hits = (page) => page.locator(".search-hit");
const status = (page) => page.locator(".search-status");

/** Searches until everything is indexed, and waits until the hits are shown. */
async function search(page, text) {
  const isAnswer = (response) => response.url().includes("/api/copilot/search?") && new URL(response.url()).searchParams.get("q") === text;
  const answer = async () => (await page.waitForResponse(isAnswer)).json();
  const first = answer();
  await page.locator("#session-search").fill(text);
  let found = await first;
  while (found.indexing) found = await answer();
  await waitFor(async () => (await hits(page).count()) === found.hits.length, "the hits");
  return found;
}

/** Whether a block is in view and marked. */
function isShown(block) {
  return block.evaluate((element) => {
    const view = document.querySelector("#session-part").getBoundingClientRect();
    const box = element.getBoundingClientRect();
    return box.bottom > view.top && box.top < view.bottom;
  });
}

test("titles come first, then texts with what matched, by session", async () => {
  const titled = await deck.server.session({ title: "About the axolotl" });
  await deck.server.turn(titled, "hello");
  const spoken = await deck.server.session({ title: "Something else" });
  await deck.server.turn(spoken, "tell me of an Axolotl, <b>please</b>");
  const page = await openSetup(deck);
  await page.locator(`.session-row[data-session="${titled}"]`).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("axolo");
  await waitForText(status(page), /^\d+ results? in 1 session$/);
  assert.deepEqual(await page.locator(".session-row").evaluateAll((rows) => rows.map((row) => row.dataset.session)), [titled]);
  assert.deepEqual(await page.locator(".search-session").evaluateAll((rows) => rows.map((row) => row.dataset.session)), [spoken]);
  assert.equal(await hits(page).first().locator("mark").first().textContent(), "Axolotl", "the word is not complete yet");
  assert.match(await hits(page).first().textContent(), /<b>please<\/b>/, "text, not markup");
  await page.locator('[data-filter="closed"]').click();
  await waitFor(async () => (await hits(page).count()) === 0, "no closed session");
  await page.locator('[data-filter="all"]').click();
  await search(page, "axolotl -please");
  assert.equal(await page.locator(`.search-session[data-session="${spoken}"] .search-kind`, { hasText: "Prompt" }).count(), 0);
  await page.locator("#session-search").fill("");
  await page.locator("#search-results").waitFor({ state: "hidden" });
});

test("a word is found wherever it stands in a prompt, also behind what the title shows of it", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, `${"Look through all the old files and compare them with the new ones, ".repeat(2)}then write the reconciliation.`);
  const page = await openSetup(deck);
  const { title } = await deck.server.call("GET", `copilot/session/${id}`);
  assert.match(title, /^Look through[^]*…$/, "the title is cut off before it");
  await search(page, "reconciliation");
  const found = page.locator(`.search-session[data-session="${id}"]`);
  const prompt = found.locator(".search-hit", { has: page.locator(".search-kind", { hasText: "Prompt" }) });
  assert.equal(await prompt.locator("mark").textContent(), "reconciliation");
  await prompt.click();
  await shown(page);
  await waitForText(blocks(page, "User").first(), /then write the reconciliation\./);
});

test("what cannot be searched for is explained, and a failure is an error", async () => {
  const page = await openSetup(deck);
  await page.locator("#session-search").fill("-only");
  await waitForText(status(page), /^Only excluded words/);
  await page.locator("#session-search").fill("->");
  await waitForText(status(page), /^Nothing to search for/);
  await page.route(/api\/copilot\/search/, (route) => route.fulfill({ status: 500, json: { error: "InternalError", message: "The disk is on fire." } }));
  deck.expectConsoleErrors(/400|500/);
  await page.locator("#session-search").fill("word");
  await waitForText(status(page), "Could not search: The disk is on fire.");
});

test("progress is shown while older sessions are indexed, until they are", async () => {
  const page = await openSetup(deck);
  // Until it has been seen.
  let isIndexing = true;
  await page.route(/api\/copilot\/search/, (route) => route.fulfill({ json: { sessions: [], hits: [], indexing: isIndexing ? { done: 30, total: 120 } : undefined } }));
  await page.locator("#session-search").fill("word");
  await waitForText(status(page), /Indexing older sessions: 25 %/);
  isIndexing = false;
  await waitForText(status(page), "No results");
});

test("a hit thousands of events back is opened exactly there, by keyboard", async () => {
  const id = await deck.server.session({ title: "A long way back" });
  await deck.server.turn(id, "remember the pangolin");
  await deck.server.turn(id, "blocks 6000");
  const page = await openSetup(deck);
  const found = (await search(page, "pangolin")).hits.filter(({ kind }) => kind === "prompt");
  const prompt = page.locator('.search-hit:has(.search-kind:text-is("Prompt"))');
  await noteFound(page);
  await prompt.focus();
  await page.keyboard.press("Enter");
  await shown(page);
  assert.match(page.url(), new RegExp(`session=${id}&event=${found[0].seq}$`));
  const block = blocks(page, "User").filter({ hasText: "remember the pangolin" });
  await block.waitFor();
  await waitFor(() => isShown(block), "the block in view");
  assert.ok((await foundBlock(page, "remember the pangolin")).hasFocus, "marked and focused");
  assert.ok((await page.locator(".message-block").count()) < 1500, "not everything in between is loaded");
  // The end is not followed.
  await page.locator("#to-end-button").waitFor();
  await page.locator(".found-block").waitFor({ state: "detached" });
  // What is below is loaded as the reader goes down, in order and complete.
  const numbers = () => page.locator(".message-block-summary").evaluateAll((all) => all.map((one) => Number(/^echo (\d+)$/.exec(one.textContent)?.[1])).filter((number) => !Number.isNaN(number)));
  const early = async () => (await numbers()).filter((number) => number < 3000).length;
  const before = await early();
  await page.locator("#session-part").evaluate((part) => part.scrollTo({ top: part.querySelector(".unloaded").offsetTop - 200 }));
  await waitFor(async () => (await early()) > before + 30, "the next stretch");
  const seen = await numbers();
  assert.deepEqual(seen, seen.toSorted((one, other) => one - other), "in order");
  assert.equal(await blocks(page).filter({ has: page.locator(".message-block-state") }).count(), 0, "nothing is still being received");
  // Back in the list, the browser's own way back leads to the block again.
  await page.goto(`${deck.server.url}/?session=${id}&event=${found[0].seq}`);
  await shown(page);
  await waitFor(async () => (await block.count()) === 1 && isShown(block), "the block after a reload");
});

test("a hit in a tool call opens the block, also within the shown session", async () => {
  const id = await deck.server.session({ title: "Tools" });
  await deck.server.turn(id, "blocks 900");
  const page = await openSession(deck, id);
  const call = (await deck.server.log(id)).filter(({ response }) => response.callback === "onStartToolExecution")[15];
  const [word] = /echo \d+/.exec(call.response.toolArguments);
  const found = await waitFor(async () => {
    const { hits: all, indexing } = await deck.server.call("GET", `copilot/search?q=${encodeURIComponent(`"${word}"`)}&kind=tool&session=${id}`);
    return indexing ? null : all;
  }, "the index");
  assert.ok(found.some(({ seq }) => seq === call.seq), JSON.stringify(found));
  await noteFound(page);
  await page.evaluate(({ id, seq }) => {
    history.pushState(null, "", `?session=${id}&event=${seq}`);
    dispatchEvent(new PopStateEvent("popstate"));
  }, { id, seq: call.seq });
  const { block } = await foundBlock(page, word);
  await waitFor(() => isShown(block), "the block in view");
  assert.match(await block.evaluate((element) => element.querySelector(".message-block-summary").textContent), new RegExp(word));
  assert.ok(await block.evaluate((element) => element.querySelector(".message-block-body").checkVisibility()), "a closed block is opened");
});

test("axe finds nothing serious in results", async () => {
  const id = await deck.server.session({ title: "Quokka" });
  await deck.server.turn(id, "a quokka");
  for (const colorScheme of ["light", "dark"]) {
    const page = await openSetup(deck, "/", { colorScheme });
    await search(page, "quokka");
    await hits(page).first().waitFor();
    await checkAccessibility(page, `results, ${colorScheme}`);
  }
});

test("a session is exported from its details", async () => {
  const id = await deck.server.session({ title: "Export me" });
  await deck.server.turn(id, "hello");
  const page = await openSession(deck, id);
  await page.locator("#details-button").click();
  // What is read when the panel opens is shown.
  await page.locator("#details-mode").waitFor();
  for (const [format, name, start] of [["md", `${id}.md`, "# Export me"], ["json", `${id}.json`, '{"format"'], ["md.zip", `${id}.zip`, "PK"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`[data-format="${format}"]`).click()]);
    assert.equal(download.suggestedFilename(), name);
    const text = await readFile(await download.path(), "latin1");
    assert.ok(text.startsWith(start), text.slice(0, 60));
  }
  await checkAccessibility(page, "details");
});
