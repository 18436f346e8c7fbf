// A server of a test file's own: the real binary, a free port, a data folder that goes away with it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { binary } from "./environment.mjs";

const running = new Set();
const folders = new Set();

// However the test process ends, no server and no folder outlives it.
process.on("exit", () => {
  running.forEach((child) => child.kill("SIGKILL"));
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
});
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => process.exit(1));

export class Server {
  #child;
  #settings;
  #stderr = [];

  /** The address that it printed. */
  url;
  /** The link that logs in once; with `--auth none` the first page. */
  loginUrl;
  /** The folder that everything of this server is below, without symbolic links. */
  folder;

  /**
   * Starts a server and waits for its address.
   *
   * - `auth`: "token" (with a login link), or "none"
   * - `flags`: more flags
   * - `jobs`: an entry of jobs for the configuration, or "built-in"; without it the server has `--test` and no entry
   * - `config`: the text of flightdeck.toml
   * - `environment`: more variables
   */
  static async start(settings = {}) {
    const server = new Server();
    server.#settings = { auth: "token", flags: [], jobs: null, config: "", environment: {}, ...settings };
    server.folder = await realpath(await mkdtemp(path.join(os.tmpdir(), "flightdeck-browser-")));
    folders.add(server.folder);
    await mkdir(path.join(server.folder, "home/config/flightdeck"), { recursive: true });
    await mkdir(server.workFolder);
    await server.startAgain();
    return server;
  }

  get workFolder() {
    return path.join(this.folder, "work");
  }

  get dataFolder() {
    return path.join(this.folder, "data");
  }

  /** Everything that it has written to standard error so far. */
  get stderr() {
    return this.#stderr.join("\n");
  }

  /**
   * Starts on the same data after an end; on the same port when it was up before. It begins with the first flightdeck.toml again,
   * or with `config`.
   */
  async startAgain({ config = this.#settings.config } = {}) {
    const { auth, flags, jobs, environment } = this.#settings;
    const home = path.join(this.folder, "home");
    await writeFile(path.join(home, "config/flightdeck/flightdeck.toml"), config);
    const entry = path.join(home, "config/flightdeck/jobs.json");
    const hasEntry = jobs !== null && jobs !== "built-in";
    if (hasEntry) await writeFile(entry, JSON.stringify(jobs));
    const port = this.url ? new URL(this.url).port : "0";
    const kept = Object.entries(process.env).filter(([name]) => !/^(FLIGHTDECK_|COPILOT_|GH_TOKEN$|GITHUB_TOKEN$|TEST_(?!WEB$))/.test(name));
    const child = spawn(binary, ["--port", port, "--auth", auth, ...(jobs === null ? ["--test"] : []), "--data-dir", this.dataFolder, ...flags], {
      cwd: this.folder,
      env: {
        ...Object.fromEntries(kept),
        HOME: home,
        XDG_CONFIG_HOME: path.join(home, "config"),
        XDG_DATA_HOME: path.join(home, "data"),
        COPILOT_CLI_PATH: "/no/copilot/unless/a/test/wants/it",
        ...(hasEntry ? { FLIGHTDECK_JOBS_ENTRY: entry } : {}),
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    child.once("exit", () => running.delete(child));
    this.#child = child;
    createInterface({ input: child.stderr }).on("line", (line) => this.#stderr.push(line));
    const lines = createInterface({ input: child.stdout });
    const greeting = [];
    for await (const line of lines) {
      greeting.push(line);
      if (greeting.length === 2) break;
    }
    if (greeting.length < 2) throw new Error(`the server ended instead of starting:\n${this.stderr}`);
    child.stdout.resume();
    this.url = greeting[0];
    this.loginUrl = greeting[1].slice(greeting[1].indexOf("http"));
  }

  async token() {
    return (await readFile(path.join(this.dataFolder, "token"), "utf8")).trim();
  }

  /**
   * Asks the API as a program would. `body` that is an object goes as JSON, a string as plain text. Gives
   * `{ status, json, text }`.
   */
  async api(method, route, body) {
    const headers = { authorization: `Bearer ${await this.token()}` };
    if (body !== undefined && typeof body !== "string") headers["content-type"] = "application/json";
    const answer = await fetch(`${this.url}/api/${route}`, {
      method,
      headers,
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    return { status: answer.status, text, json: isJson ? JSON.parse(text) : undefined };
  }

  /** As `api`, for calls that must succeed. Gives the JSON. */
  async call(method, route, body) {
    const { status, text, json } = await this.api(method, route, body);
    if (status >= 300 || json?.error) throw new Error(`${method} ${route}: ${status} ${text}`);
    return json;
  }

  /** A new demo session in the work folder (or as `settings` say). Gives its id. */
  async session(settings = {}) {
    const body = { model: "demo", workingDirectory: this.workFolder, permissionMode: "ask", ...settings };
    return (await this.call("POST", "copilot/session", body)).sessionId;
  }

  /** Sends a prompt and waits for the end of its turn. */
  async turn(sessionId, text) {
    return this.call("POST", `copilot/session/${sessionId}/prompt`, { text, wait: true });
  }

  /** All events of a session: `[{ seq, time, response }]`. */
  async log(sessionId) {
    const events = [];
    for (let after = 0; after !== undefined; ) {
      const page = await this.call("GET", `copilot/session/${sessionId}/log?after=${after}&limit=1000`);
      events.push(...page.events);
      after = page.next;
    }
    return events;
  }

  /** `kill -9`, then waits until it is gone. */
  async kill() {
    await this.#end("SIGKILL");
  }

  /** A polite end; the data stays. */
  async stop() {
    await this.#end("SIGTERM");
  }

  /** Waits until the server has ended by itself. */
  async ended() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
    return this.#child.exitCode;
  }

  /** Ends it and removes its folder. */
  async remove() {
    await this.#end("SIGTERM");
    // An agent or git that was killed with it may still write.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    folders.delete(this.folder);
  }

  async #end(signal) {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    await this.ended();
  }
}
