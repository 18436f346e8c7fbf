// Server-sent events read by fetch: the same events, however the network cuts them up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { useDeck } from "./support/index.mjs";

const deck = useDeck();

test("events are put together from pieces of any size, and comments are left out", async () => {
  const page = await deck.openPage("/test.html");
  const seen = await page.evaluate(async () => {
    const { EventParser } = await import("/lib/eventStream.js");
    const text = ': comment\n\nid: 1\ndata: {"a":"ä"}\n\ndata:two\ndata: lines\n\nevent: closed\ndata: {}\n\n: still here\n\ndata: not finished';
    return [1, 2, 7, text.length].map((size) => {
      const found = [];
      const parser = new EventParser((data) => found.push(data));
      for (let at = 0; at < text.length; at += size) parser.take(text.slice(at, at + size));
      return found;
    });
  });
  for (const found of seen) assert.deepEqual(found, ['{"a":"ä"}', "two\nlines", "{}"]);
});
