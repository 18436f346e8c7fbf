// The configurations in docs/remote-access.md with the real proxies. Run by `cargo xtask proxies`.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http2 from "node:http2";
import https from "node:https";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { after, before, describe, test } from "node:test";
import tls from "node:tls";
import { freePort, untilListening } from "./ports.mjs";

const HOST = "deck.example.com";
const { TEST_BINARY, TEST_DOCS } = process.env;
const docs = await readFile(TEST_DOCS, "utf8");
const folder = await mkdtemp(path.join(os.tmpdir(), "flightdeck-proxies-"));
const [certificate, key] = ["certificate.pem", "key.pem"].map((name) => path.join(folder, name));
execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${HOST}`, "-addext", `subjectAltName=DNS:${HOST}`, "-keyout", key, "-out", certificate], { stdio: "ignore" });
const ca = await readFile(certificate);
after(() => rm(folder, { recursive: true }));

/** The code block of the documentation in that language. */
function documented(language) {
  const [, rest] = docs.split(`\`\`\`${language}\n`);
  assert.ok(rest, `docs/remote-access.md has no ${language} block`);
  return rest.split("```")[0];
}

/** Replaces a text that must be there. */
function replaced(text, from, to) {
  assert.ok(text.includes(from), `${from} is not in the documented configuration`);
  return text.replaceAll(from, to);
}

/** The documented configuration, with the ports and certificates of this test. */
const PROXIES = {
  nginx(port, upstream) {
    let site = documented("nginx");
    site = replaced(site, "listen 443", `listen 127.0.0.1:${port}`);
    site = replaced(site, "127.0.0.1:8888", upstream);
    site = replaced(site, `/etc/letsencrypt/live/${HOST}/fullchain.pem`, certificate);
    site = replaced(site, `/etc/letsencrypt/live/${HOST}/privkey.pem`, key);
    // Shorter than a minute of silence, longer than the 15 seconds between two comments of a stream.
    site = replaced(site, "proxy_read_timeout 1h", "proxy_read_timeout 20s");
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n");
    const text = `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr warn;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${site}}\n`;
    return { file: "nginx.conf", text, command: (file) => ["nginx", ["-p", folder, "-c", file]] };
  },
  caddy(port, upstream) {
    let site = documented("caddy");
    site = replaced(site, `${HOST} {`, `https://${HOST}:${port} {\n    bind 127.0.0.1\n    tls ${certificate} ${key}`);
    site = replaced(site, "127.0.0.1:8888", upstream);
    const text = `{\n    admin off\n    auto_https off\n    storage file_system ${folder}/caddy\n}\n${site}`;
    return { file: "Caddyfile", text, command: (file) => ["caddy", ["run", "--config", file, "--adapter", "caddyfile"]] };
  },
};

/** A person's browser: one connection to the proxy, with the origin of its pages. */
class Browser {
  constructor(port) {
    this.authority = `${HOST}:${port}`;
    this.port = port;
    this.headers = { origin: `https://${this.authority}`, "sec-fetch-site": "same-origin" };
  }

  /** With HTTP/1.1. */
  async ask(target, { method = "GET", body, json } = {}) {
    const headers = { ...this.headers, host: this.authority };
    if (json !== undefined) headers["content-type"] = "application/json";
    const content = json === undefined ? body : JSON.stringify(json);
    const request = https.request({ host: "127.0.0.1", port: this.port, servername: HOST, ca, path: target, method, headers });
    request.end(content);
    const [response] = await once(request, "response");
    return response;
  }

  async read(target, options) {
    const response = await this.ask(target, options);
    response.setEncoding("utf8");
    let text = "";
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, headers: response.headers, text, json: () => JSON.parse(text) };
  }
}

for (const [name, configure] of Object.entries(PROXIES)) {
  describe(name, () => {
    let server, proxy, browser, link;

    before(async () => {
      const port = await freePort();
      const data = await mkdtemp(path.join(folder, "data-"));
      server = spawn(TEST_BINARY, ["--port", "0", "--behind-proxy", "--data-dir", data], {
        env: { ...process.env, HOME: data, XDG_CONFIG_HOME: data, FLIGHTDECK_SERVER_ALLOWED_HOSTS: HOST },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const lines = readline.createInterface({ input: server.stdout })[Symbol.asyncIterator]();
      const url = new URL((await lines.next()).value);
      link = (await lines.next()).value;
      const { file, text, command } = configure(port, `127.0.0.1:${url.port}`);
      await writeFile(path.join(folder, file), text);
      const [program, parameters] = command(path.join(folder, file));
      proxy = spawn(program, parameters, { stdio: "ignore", env: { ...process.env, HOME: folder } });
      await untilListening(port, proxy, (to) => tls.connect({ port: to, host: "127.0.0.1", servername: HOST, ca }), "secureConnect");
      browser = new Browser(port);
    });

    after(async () => {
      for (const child of [proxy, server]) {
        if (!child || child.exitCode !== null) continue;
        // Caddy would wait a minute for connections that are kept alive.
        child.kill(child === proxy ? "SIGKILL" : "SIGTERM");
        await once(child, "exit");
      }
    });

    test("a person logs in, and the cookie is Secure", async () => {
      const reply = await browser.read("/login", { method: "POST", body: link.split("?")[1] });
      assert.equal(reply.status, 200, reply.text);
      const [cookie] = reply.headers["set-cookie"];
      assert.match(cookie, /; Secure/);
      assert.match(cookie, /; HttpOnly/);
      Object.assign(browser.headers, { cookie: cookie.split(";")[0], "flightdeck-secret": reply.json().secret });
      assert.equal((await browser.read("/api/copilot/session")).status, 200);
    });

    test("another site is refused through the proxy too", async () => {
      const stranger = new Browser(browser.port);
      Object.assign(stranger.headers, browser.headers, { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" });
      assert.equal((await stranger.read("/api/copilot/session")).status, 403);
    });

    test("events arrive while the turn runs", { timeout: 20_000 }, async () => {
      const { sessionId } = (await browser.read("/api/copilot/session", { method: "POST", json: { runtime: "demo" } })).json();
      const session = `/api/copilot/session/${sessionId}`;
      const stream = await browser.ask(`${session}/events?after=0`);
      // Few bytes, which any buffer would hold back, and then the turn waits.
      await browser.read(`${session}/prompt`, { method: "POST", json: { text: "permission" } });
      stream.setEncoding("utf8");
      let text = "";
      for await (const chunk of stream) {
        text += chunk;
        if (text.includes("onPermissionRequested")) break;
      }
      assert.equal((await browser.read(session)).json().state, "waiting");
      await browser.read(`${session}/interrupt`, { method: "POST", json: {} });
    });

    test("the same with HTTP/2", async () => {
      const connection = http2.connect(`https://${browser.authority}`, { ca, createConnection: () => tls.connect({ host: "127.0.0.1", port: browser.port, servername: HOST, ca, ALPNProtocols: ["h2"] }) });
      const stream = connection.request({ ":path": "/api/events", ...browser.headers });
      const [headers] = await once(stream, "response");
      assert.equal(headers[":status"], 200);
      const [chunk] = await once(stream, "data");
      assert.match(String(chunk), /sessionId/);
      stream.close();
      connection.close();
    });

    test("a long poll returns what there is, and waits its 5 seconds for what is not", async () => {
      const { sessionId } = (await browser.read("/api/copilot/session", { method: "POST", json: { runtime: "demo" } })).json();
      const session = `/api/copilot/session/${sessionId}`;
      await browser.read(`${session}/prompt`, { method: "POST", json: { text: "hello", wait: true } });
      const { token } = (await browser.read("/api/token")).json();
      const first = (await browser.read(`${session}/live/${token}?after=0`)).json();
      assert.ok(first.responses.length > 0);
      assert.deepEqual((await browser.read(`${session}/live/${token}`)).json(), { error: "HttpRequestTimeout" });
    });

    test("an upload of 24 MB arrives, and one beyond the limit is refused", async () => {
      const { sessionId } = (await browser.read("/api/copilot/session", { method: "POST", json: { runtime: "demo" } })).json();
      const upload = (bytes) => browser.read(`/api/copilot/session/${sessionId}/prompt`, {
        method: "POST",
        json: { text: "hello", wait: true, attachments: [{ name: "a.bin", mime: "application/octet-stream", data: Buffer.alloc(bytes).toString("base64") }] },
      });
      const accepted = await upload(18_000_000);
      assert.equal(accepted.status, 200, accepted.text);
      const refused = await upload(27_000_000).catch(() => ({ status: 413 }));
      assert.equal(refused.status, 413);
    });

    test("an idle stream outlives the timeout of the proxy", { timeout: 90_000 }, async () => {
      const { sessionId } = (await browser.read("/api/copilot/session", { method: "POST", json: { runtime: "demo" } })).json();
      const stream = await browser.ask(`/api/copilot/session/${sessionId}/events?after=0`);
      stream.setEncoding("utf8");
      let comments = 0;
      for await (const chunk of stream) {
        comments += chunk.split(": keep-alive").length - 1;
        // Three comments are 45 seconds.
        if (comments >= 3) return;
      }
      assert.fail(`the stream ended after ${comments} comments`);
    });
  });
}
