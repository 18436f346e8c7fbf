// What `cargo xtask browser` puts into the environment.

import { createRequire } from "node:module";
import path from "node:path";

function needed(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with \`cargo xtask browser\``);
  return value;
}

/** The flightdeck binary that is tested. */
export const binary = needed("TEST_BINARY");

/** Chromium's program: the whole browser. */
export const chromiumProgram = needed("TEST_CHROMIUM");

/** The same version without windows and everything around a page, which takes a quarter of the processor time. */
export const shellProgram = process.env.TEST_CHROMIUM_SHELL || chromiumProgram;

/** Where the real agents are installed. */
export const agentsFolder = needed("TEST_AGENTS");

const packages = createRequire(path.join(needed("TEST_BROWSER"), "package.json"));

/** Playwright's driver for Chromium. */
export const { chromium } = packages("playwright-core");

/** Encrypted content encoding for HTTP (RFC 8188), which push messages use. */
export const encryptedContent = packages("http_ece");

/** The script that checks a page's accessibility. */
export const axeScript = packages.resolve("axe-core/axe.min.js");
