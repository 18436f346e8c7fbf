// Agents that take a process each: who stands in line for one sees it.

import path from "node:path";
import { test } from "node:test";
import { blocks, openSession, send, useDeck, waitForText } from "./support/index.mjs";

const script = path.resolve(import.meta.dirname, "../agents/fake_acp.mjs");
const deck = useDeck({
  config: `[acp.fake]\ncommand = "sh"\nargs = ["-c", 'exec node "$0" "$HOME/fake"', ${JSON.stringify(script)}]\n[limits]\nagent_processes = 1\n`,
});

test("a session that stands in line for an agent process says where, and goes on when it is its turn", async () => {
  const first = await deck.server.session({ runtime: "acp:fake", model: "" });
  const page = await openSession(deck, first);
  await send(page, "@@hang");
  await waitForText(blocks(page, "Message"), /hanging/);
  const second = await deck.server.session({ runtime: "acp:fake", model: "" });
  const other = await openSession(deck, second);
  await send(other, "@@echo my turn");
  await waitForText(other.locator('[data-banner="state"] .banner-text'), /waiting for one of 1 agent processes.*position 1/);
  await page.getByRole("button", { name: "Interrupt" }).click();
  await waitForText(blocks(other, "Message"), /ECHO\[my turn\]/);
  await other.locator('[data-banner="state"]').waitFor({ state: "detached" });
});
