// Waiting for conditions, never for time.

import { inspect } from "node:util";

/**
 * How long anything may take: only what hangs takes this long, also on a machine that does much else. Playwright's own waits
 * have the same limit (see `deck.mjs`).
 */
export const LIMIT_MS = 120_000;
const STEP_MS = 25;

/**
 * Asks again until `question` gives something truthy, which it returns. Fails with `what` and the last answer. For
 * what is on a page, Playwright's own `locator.waitFor` and `page.waitForFunction` are better.
 */
export async function waitFor(question, what) {
  const end = performance.now() + LIMIT_MS;
  let answer;
  do {
    answer = await question();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  } while (performance.now() < end);
  throw new Error(`waited in vain for ${what}; last: ${inspect(answer)}`);
}

/** Waits until the text of a locator is (a string) or matches (a pattern). */
export async function waitForText(locator, expected) {
  const fits = (text) => (typeof expected === "string" ? text.trim() === expected : expected.test(text));
  let last;
  try {
    await waitFor(async () => {
      last = await locator.textContent();
      return fits(last);
    }, "");
  } catch (error) {
    throw new Error(`waited in vain for the text ${inspect(expected)} of ${locator}; last: ${inspect(last)}`, { cause: error });
  }
}
