// The line that says for how long the agent has been working, on a page that is opened in the middle of a turn.

import { test } from "node:test";
import { LogStub, shown, useDeck, waitForText } from "./support/index.mjs";

const deck = useDeck();

const MINUTE = 60_000;
const prompt = (number, { queued = false } = {}) => ({ callback: "onUserPrompt", promptId: `prompt-${number}`, text: "go", queued });
const message = (number, words = 1) => [{ callback: "onStartMessage", messageId: `m${number}` }, ...Array.from({ length: words }, () => ({ callback: "onMessage", messageId: `m${number}`, delta: "word " }))];

/** A page of a session with these events behind a finished turn: `[minutes ago, response]`. */
async function openWith(timed, details = {}) {
  const id = await deck.server.session();
  await deck.server.turn(id, "hello");
  const context = await deck.openContext();
  const log = await LogStub.use({ deck, context, id, responses: timed.map(([, response]) => response), details: { state: "working", ...details } });
  const now = Date.now();
  timed.forEach(([minutes], index) => {
    log.events.at(index - timed.length).time = new Date(now - minutes * MINUTE).toISOString();
  });
  const page = await context.newPage();
  return { id, log, page, open: async () => { await page.goto(`${deck.server.url}/?session=${id}`); await shown(page); } };
}

const line = (page) => page.locator(".session-response-awaiting");

test("it counts from the turn's prompt", async () => {
  const { page, open } = await openWith([[7, prompt(2)], [6, { callback: "onAgentStart", turnId: "turn-2" }], ...message(1).map((one) => [5, one])]);
  await open();
  await waitForText(line(page), /^Working · 7 min \d+ s/);
});

test("a prompt that waited counts from the beginning of its turn, and one that waits does not count", async () => {
  const { page, open } = await openWith([[20, prompt(2)], [20, { callback: "onAgentStart", turnId: "turn-2" }], [19, prompt(3, { queued: true })], [9, { callback: "onIdle" }], [8, { callback: "onAgentStart", turnId: "turn-3" }], [7, { callback: "onAgentStart", turnId: "turn-3.2" }], [6, prompt(4, { queued: true })]]);
  await open();
  await waitForText(line(page), /^Working · 8 min \d+ s/);
});

test("a turn that is longer than what is loaded counts from its prompt too", async () => {
  const { id, log, page, open } = await openWith([[7, prompt(2)], [7, { callback: "onAgentStart", turnId: "its-own" }], ...message(1, 1500).map((one) => [5, one])]);
  const { seq, time } = log.events.find(({ response }) => response.promptId === "prompt-2");
  await page.route(new RegExp(`/session/${id}/outline`), (route) => route.fulfill({ json: { prompts: [{ promptId: "prompt-2", seq, time, line: "go", byTask: false, verdict: null }], truncated: false } }));
  await open();
  await waitForText(line(page), /^Working · 7 min \d+ s/);
});
