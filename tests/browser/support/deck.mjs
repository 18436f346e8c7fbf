// What most test files want: one server, one Chromium, pages whose console stays clean.

import { after, afterEach, before } from "node:test";
import { chromium, chromiumProgram, shellProgram } from "./environment.mjs";
import { Server } from "./server.mjs";
import { LIMIT_MS } from "./waiting.mjs";

const CHROMIUM_FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A Chromium with a profile of its own; end it with `close()`. Few pages need the whole browser. */
export function launchChromium({ wholeBrowser = false } = {}) {
  return chromium.launch({
    executablePath: wholeBrowser ? chromiumProgram : shellProgram,
    headless: true,
    chromiumSandbox: false,
    args: CHROMIUM_FLAGS,
    handleSIGTERM: false,
    handleSIGINT: false,
    handleSIGHUP: false,
    timeout: LIMIT_MS,
  });
}

/**
 * Registers the hooks that start a server and a Chromium for this test file and end both. Call it once, at the top:
 *
 *     const deck = useDeck();
 *     test("the page loads", async () => {
 *       const page = await deck.openPage("/");
 *     });
 *
 * Settings are those of `Server.start`, and `wholeBrowser`. After each test its pages are closed, and the test fails if one of them wrote
 * an error to the console, threw, or asked another host for anything.
 */
export function useDeck(settings = {}) {
  const deck = new Deck(settings);
  before(() => deck.start());
  afterEach(() => deck.endTest());
  after(() => deck.end());
  return deck;
}

export class Deck {
  #settings;
  #browser;
  #contexts = [];
  #login;
  #problems = [];
  #expected = [];

  /** The server, once it runs. */
  server;

  constructor(settings) {
    this.#settings = settings;
  }

  async start() {
    const [server, browser] = await Promise.allSettled([Server.start(this.#settings), launchChromium(this.#settings)]);
    // Both are ended, whichever of them did not start.
    [this.server, this.#browser] = [server.value, browser.value];
    for (const { status, reason } of [server, browser]) if (status === "rejected") throw reason;
  }

  /**
   * A page in a browser context of its own, logged in, at `path`. `context` is what Playwright's `newContext` takes
   * (`viewport`, `colorScheme`, `reducedMotion`, …).
   */
  async openPage(path = "/", context = {}) {
    const page = await (await this.openContext(context)).newPage();
    await page.goto(this.server.url + path);
    return page;
  }

  /** A browser context that is logged in: several pages of one context are tabs of one person. */
  async openContext(context = {}) {
    return this.openStrangersContext({ ...context, storageState: await this.#loggedIn() });
  }

  /** A browser context of somebody who is not logged in. */
  async openStrangersContext(context = {}) {
    const opened = await this.#newContext(context);
    this.#contexts.push(opened);
    opened.on("close", () => {
      this.#contexts = this.#contexts.filter((one) => one !== opened);
    });
    opened.on("page", (page) => this.#watch(page));
    return opened;
  }

  /** For a test that provokes errors: those that match are no problem until the test ends. */
  expectConsoleErrors(pattern) {
    this.#expected.push(pattern);
  }

  /** The problems of this test's pages so far, without the expected ones. */
  get problems() {
    return this.#problems.filter((problem) => !this.#expected.some((pattern) => pattern.test(problem)));
  }

  async endTest() {
    const { problems } = this;
    const contexts = this.#contexts;
    this.#contexts = [];
    await Promise.all(contexts.map(closeContext));
    this.#problems = [];
    this.#expected = [];
    if (problems.length > 0) throw new Error(`the page had problems:\n${problems.join("\n")}`);
  }

  async end() {
    await this.#browser?.close();
    await this.server?.remove();
  }

  /** The login link works once, so its cookie and its secret are kept for every context. */
  async #loggedIn() {
    if (!this.#login) {
      const context = await this.#newContext();
      const page = await context.newPage();
      await page.goto(this.server.loginUrl);
      await page.waitForURL((url) => url.pathname !== "/login");
      this.#login = await context.storageState();
      await context.close();
    }
    return this.#login;
  }

  /** Without a service worker, unless a test is about it: it would answer in place of the server. */
  async #newContext(settings = {}) {
    const context = await this.#browser.newContext({ serviceWorkers: "block", ...settings });
    context.setDefaultTimeout(LIMIT_MS);
    return context;
  }

  #watch(page) {
    const note = (text) => this.#problems.push(text);
    page.on("console", (message) => {
      const { url, lineNumber } = message.location();
      if (message.type() === "error") note(`console: ${message.text()} (${url}:${lineNumber})`);
    });
    page.on("pageerror", (error) => note(`thrown: ${error.stack ?? error}`));
    page.on("request", (request) => {
      const url = request.url();
      const own = url.startsWith(`${this.server.url}/`) || /^(data|blob|about):/.test(url);
      if (!own) note(`asked another host: ${url}`);
    });
  }
}

/** Closes a context whose pages may be waiting for a route of the test: what its handler cannot do any more is no failure. */
async function closeContext(context) {
  const routed = [context, ...context.pages()];
  await Promise.all(routed.map((one) => one.unrouteAll({ behavior: "ignoreErrors" })));
  await context.close();
}
