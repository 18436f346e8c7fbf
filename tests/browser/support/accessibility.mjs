// Accessibility, as axe sees it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { axeScript } from "./environment.mjs";

const axe = await readFile(axeScript, "utf8");

/** Fails with what is seriously wrong with the page as it is now, or with the part of it that a selector names. */
export async function checkAccessibility(page, what, within = "html") {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate((part) => window.axe.run(part, { resultTypes: ["violations"] }), within);
  const serious = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.slice(0, 4).map(({ html, failureSummary }) => `${html}\n    ${failureSummary}`).join("\n  ")}`);
  assert.deepEqual(serious, [], `${what}:\n${serious.join("\n")}`);
}
