// Accessibility, as axe sees it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { axeScript } from "./environment.mjs";

const axe = await readFile(axeScript, "utf8");

/** Rules that axe does not apply by itself: what a button shows is part of what it is called, so that it can be spoken to. */
const MORE_RULES = { "label-content-name-mismatch": { enabled: true } };

/** Fails with what is seriously wrong with the page as it is now, or with the part of it that a selector names. */
export async function checkAccessibility(page, what, within = "html") {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(([part, rules]) => window.axe.run(part, { resultTypes: ["violations"], rules }), [within, MORE_RULES]);
  const serious = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.slice(0, 4).map(({ html, failureSummary }) => `${html}\n    ${failureSummary}`).join("\n  ")}`);
  assert.deepEqual(serious, [], `${what}:\n${serious.join("\n")}`);
}
