// The SSH tunnel of docs/remote-access.md with the real sshd and ssh. Run by `cargo xtask proxies`.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { after, before, test } from "node:test";
import { freePort, untilListening } from "./ports.mjs";

const { TEST_BINARY, TEST_DOCS } = process.env;
const docs = await readFile(TEST_DOCS, "utf8");
const folder = await mkdtemp(path.join(os.tmpdir(), "flightdeck-tunnel-"));
const inFolder = (name) => path.join(folder, name);
const children = [];
let local, link;

function started(program, parameters, options) {
  const child = spawn(program, parameters, options);
  children.push(child);
  return child;
}

before(async () => {
  const data = inFolder("data");
  await mkdir(data);
  const server = started(TEST_BINARY, ["--port", "0", "--data-dir", data], { env: { ...process.env, HOME: data, XDG_CONFIG_HOME: data }, stdio: ["ignore", "pipe", "inherit"] });
  const lines = readline.createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const url = new URL((await lines.next()).value);
  // As the documentation says: the link is printed on the machine of the server.
  link = execFileSync(TEST_BINARY, ["--data-dir", data, "open", "--print"], { encoding: "utf8", env: { ...process.env, HOME: data, XDG_CONFIG_HOME: data } }).trim();

  for (const key of ["host", "user"]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", inFolder(key)]);
  await writeFile(inFolder("authorized_keys"), await readFile(inFolder("user.pub")));
  const ssh = await freePort();
  await writeFile(
    inFolder("sshd_config"),
    `Port ${ssh}\nListenAddress 127.0.0.1\nHostKey ${inFolder("host")}\nPidFile ${inFolder("sshd.pid")}\nAuthorizedKeysFile ${inFolder("authorized_keys")}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n`,
  );
  if (process.getuid() === 0) await mkdir("/run/sshd", { recursive: true });
  const [sshd] = execFileSync("sh", ["-c", "command -v sshd || echo /usr/sbin/sshd"], { encoding: "utf8" }).split("\n");
  const daemon = started(sshd, ["-D", "-e", "-f", inFolder("sshd_config")], { stdio: "ignore" });
  await untilListening(ssh, daemon);

  const [, documented] = docs.match(/```\nssh (-N -L 8888:localhost:8888) you@the-machine\n```/) ?? [];
  assert.ok(documented, "docs/remote-access.md has another command");
  local = await freePort();
  const forward = documented.replace("8888:localhost:8888", `${local}:localhost:${url.port}`).split(" ");
  const client = started("ssh", ["-F", "none", "-p", String(ssh), "-i", inFolder("user"), "-o", "StrictHostKeyChecking=no", "-o", `UserKnownHostsFile=${inFolder("known_hosts")}`, "-o", "BatchMode=yes", ...forward, `${os.userInfo().username}@127.0.0.1`], { stdio: "ignore" });
  await untilListening(local, client);
});

after(async () => {
  for (const child of children.reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await rm(folder, { recursive: true, force: true });
});

test("a person logs in through the tunnel on another port and sees events as they happen", { timeout: 30_000 }, async () => {
  const origin = `http://localhost:${local}`;
  const login = await fetch(`${origin}/login`, { method: "POST", body: link.split("?")[1], headers: { origin } });
  assert.equal(login.status, 200);
  const [cookie] = login.headers.getSetCookie();
  assert.doesNotMatch(cookie, /; Secure/, "the browser speaks http with localhost");
  const headers = { origin, cookie: cookie.split(";")[0], "flightdeck-secret": (await login.json()).secret, "content-type": "application/json" };
  const call = (target, body) => fetch(`${origin}${target}`, { headers, method: body ? "POST" : "GET", body: body && JSON.stringify(body) });
  const { sessionId } = await (await call("/api/copilot/session", { runtime: "demo" })).json();
  const session = `/api/copilot/session/${sessionId}`;
  const stream = await call(`${session}/events?after=0`);
  await call(`${session}/prompt`, { text: "permission" });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("onPermissionRequested")) break;
  }
  assert.equal((await (await call(session)).json()).state, "waiting");
});
