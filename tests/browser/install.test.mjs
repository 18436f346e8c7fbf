// Installing an agent from the page, with an npm of our own.

import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { openSetup, useDeck, waitFor, waitForText } from "./support/index.mjs";

const folder = await mkdtemp(path.join(os.tmpdir(), "flightdeck-browser-npm-"));
after(() => rm(folder, { recursive: true, force: true }));

const GOOD = "bin=$7/node_modules/.bin; mkdir -p $bin; printf '#!/bin/sh\\necho 9.8.7\\n' > $bin/claude; chmod +x $bin/claude";

/** The next install does this. */
async function npmDoes(command) {
  await writeFile(path.join(folder, "npm"), `#!/bin/sh\ncase "$1" in\nroot) echo /nowhere;;\ninstall) ${command};;\nesac\n`);
  await chmod(path.join(folder, "npm"), 0o755);
}
await npmDoes("exit 1");

const deck = useDeck({ environment: { PATH: `${folder}:${process.env.PATH}`, CLAUDE_CLI_PATH: "" } });

test("an install that fails says why, and works the next time: one line, one button", async () => {
  await npmDoes("echo 'E404 <b>no such package</b>' >&2; exit 1");
  const page = await openSetup(deck);
  await page.locator("#runtime-select").selectOption("claude");
  await waitForText(page.locator("#agent-line"), /^Claude Code is not installed\./);
  assert.ok(await page.locator("#start-button").isDisabled());
  await page.locator("#agent-line").getByRole("button", { name: "Install" }).click();
  const dialog = page.locator(".install-dialog");
  await waitForText(dialog.locator(".install-state"), /E404 <b>no such package<\/b>/);
  await npmDoes(GOOD);
  await dialog.getByRole("button", { name: "Retry" }).click();
  await waitForText(dialog.locator(".install-state"), "Claude Code 9.8.7 is installed.");
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.locator("#agent-line").waitFor({ state: "hidden" });
  await page.locator("#start-button:enabled").waitFor();
  assert.equal(await page.locator("#runtime-select").inputValue(), "claude", "the choice stays");
  await rm(path.join(deck.server.dataFolder, "agents/claude"), { recursive: true });
});

test("an install that is left is cancelled", async () => {
  await npmDoes("exec sleep 1000");
  const page = await openSetup(deck);
  await page.locator("#runtime-select").selectOption("claude");
  await page.locator("#agent-line").getByRole("button", { name: "Install" }).click();
  await waitForText(page.locator(".install-dialog .field-hint"), /@anthropic-ai\/claude-code/);
  const cancelled = page.waitForResponse((answer) => answer.request().method() === "DELETE");
  await page.keyboard.press("Escape");
  assert.equal((await cancelled).status(), 204);
  await waitFor(async () => (await deck.server.call("GET", "runtimes/claude/install")).message === "The install was cancelled.", "the end of the install");
});
