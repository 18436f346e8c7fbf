// Entries of tables on the settings page: providers, MCP servers, agents, aliases, targets, and the defaults of agents.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import test, { after, before } from "node:test";
import { checkAccessibility, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { fileSays, fillField, openSettings, settingsFile } from "./support/settingsPage.mjs";

const deck = useDeck();

/** A service that answers everything and remembers what it was asked. */
const service = { requests: [], status: 200 };
before(async () => {
  service.http = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      service.requests.push({ path: request.url, headers: request.headers, body });
      response.writeHead(service.status, { "content-type": "application/json" }).end('{"data":[]}');
    });
  });
  service.http.listen(0, "127.0.0.1");
  await once(service.http, "listening");
  service.url = `http://127.0.0.1:${service.http.address().port}`;
});
after(() => service.http.close());

const entry = (page, table, name) => page.locator(`.entry-table[data-table="${table}"] .entry[data-name=${JSON.stringify(name)}]`);
const table = (page, name) => page.locator(`.entry-table[data-table="${name}"]`);
const form = (page) => page.locator(".settings-section:visible .entry-table .entry-form");

test("a provider is added, tested, changed and removed, and its key is never shown", async () => {
  deck.expectConsoleErrors(/400/);
  const page = await openSettings(deck, "models");
  await waitForText(table(page, "providers").locator(".empty"), /No providers/);
  await page.getByRole("button", { name: "Add provider" }).click();
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(form(page).locator(".field-problem"), "Give the provider a name.");
  await fillField(form(page), "Name", "my.box");
  await fillField(form(page), "Address", "localhost");
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(form(page).locator(".field-problem"), /^Address is "localhost"; it must be an address/);
  await fillField(form(page), "Address", `${service.url}/v1`);
  await fillField(form(page), "Models", "qwen3\n<i>x</i>");
  await fillField(form(page), "Key", "sk-browser-1");
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  const row = entry(page, "providers", "my.box");
  await waitForText(row.locator(".entry-summary"), /openai · http.*\/v1 · 2 models/);
  assert.match(await settingsFile(deck.server), /sk-browser-1/);

  await row.getByRole("button", { name: "Test: provider my.box" }).click();
  await waitForText(row.locator(".entry-said"), /responds/);
  assert.equal(service.requests.at(-1).headers.authorization, "Bearer sk-browser-1");
  service.status = 401;
  await row.getByRole("button", { name: "Test: provider my.box" }).click();
  await waitForText(row.locator(".entry-said.is-bad"), /rejected the key/);
  service.status = 200;

  await row.getByRole("button", { name: "Edit provider my.box" }).click();
  assert.doesNotMatch(await page.content(), /sk-browser-1/);
  await waitForText(form(page).locator('[data-field="api_key"] .secret-kept'), /Set, not shown/);
  await form(page).getByLabel("Type").selectOption("azure");
  await fillField(form(page), "API version", "2024-10-21");
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  const text = await settingsFile(deck.server);
  assert.ok(text.includes("sk-browser-1") && text.includes('api_version = "2024-10-21"') && text.includes('type = "azure"'), text);

  await row.getByRole("button", { name: "Edit provider my.box" }).click();
  await form(page).getByRole("button", { name: "Remove the key" }).click();
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  assert.doesNotMatch(await settingsFile(deck.server), /api_key/);

  await row.getByRole("button", { name: "Remove provider my.box" }).click();
  await page.locator("dialog").getByRole("button", { name: "Cancel" }).click();
  await row.waitFor();
  await row.getByRole("button", { name: "Remove provider my.box" }).click();
  await page.locator("dialog").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  assert.doesNotMatch(await settingsFile(deck.server), /my\.box/);
});

test("a form shows the fields of its type, keeps what it does not know, and Escape leaves it", async () => {
  await deck.server.call("PATCH", "settings", { changes: { "mcp_servers.search": { url: "https://mcp.example.com", headers: { Authorization: "Bearer s-1" }, tools: ["search"] } } });
  const page = await openSettings(deck, "mcp");
  const row = entry(page, "mcp_servers", "search");
  await waitForText(row.locator(".entry-summary"), "http · https://mcp.example.com · tools: search");
  await row.getByRole("button", { name: "Edit" }).click();
  assert.equal(await form(page).getByLabel("Command", { exact: true }).isVisible(), false);
  await fillField(form(page), "Tools", "");
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  const text = await settingsFile(deck.server);
  assert.ok(text.includes("Bearer s-1") && !text.includes("tools ="), text);
  await page.getByRole("button", { name: "Add MCP server" }).click();
  await fillField(form(page), "Name", "files");
  await fillField(form(page), "Command", "mcp-files");
  await fillField(form(page), "Arguments", "/a b\n--x");
  await fillField(form(page), "Variables", "TOKEN");
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(form(page).locator(".field-problem"), "Variables: Write each line as NAME=value.");
  await fillField(form(page), "Variables", "TOKEN=t=1");
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  const { settings } = await deck.server.call("GET", "settings");
  assert.deepEqual(settings.find(({ key }) => key === "mcp_servers.files").value, { type: "stdio", command: "mcp-files", args: ["/a b", "--x"], env: "[redacted]" });
  assert.match(await settingsFile(deck.server), /TOKEN = "t=1"/);
  await page.getByRole("button", { name: "Add MCP server" }).click();
  await fillField(form(page), "Name", "files");
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(form(page).locator(".field-problem"), "This name is already in use. Choose another name for the MCP server.");
  await page.keyboard.press("Escape");
  await form(page).waitFor({ state: "detached" });
});

test("an entry that is removed while its form is open is gone from the page, and another form stays", async () => {
  const changes = { "mcp_servers.one": { command: "one" }, "mcp_servers.two": { command: "two" }, "mcp_servers.zed": { command: "zed" } };
  await deck.server.call("PATCH", "settings", { changes });
  const page = await openSettings(deck, "mcp");
  const [one, two, zed] = ["one", "two", "zed"].map((name) => entry(page, "mcp_servers", name));
  const remove = async (name) => {
    await page.getByRole("button", { name: `Remove MCP server ${name}` }).click();
    await page.locator("dialog").getByRole("button", { name: "Remove" }).click();
  };
  await one.getByRole("button", { name: "Edit" }).click();
  await fillField(form(page), "Command", "changed");
  await remove("one");
  await one.waitFor({ state: "detached" });
  assert.equal(await form(page).count(), 0);
  assert.doesNotMatch(await settingsFile(deck.server), /mcp_servers\.one/);
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  await waitFor(async () => (await focused()) === "Add MCP server", "the focus on what comes next");

  await two.getByRole("button", { name: "Edit" }).click();
  await fillField(form(page), "Command", "typed");
  await remove("zed");
  await zed.waitFor({ state: "detached" });
  assert.equal(await form(page).getByLabel("Command", { exact: true }).inputValue(), "typed", "what is typed in another form stays");
  assert.equal(await form(page).locator(".field-warning").isVisible(), false);
  await form(page).getByRole("button", { name: "Save" }).click();
  await fileSays(deck.server, 'command = "typed"');
  await deck.server.call("PATCH", "settings", { changes: { "mcp_servers.two": null } });
});

test("a form says that its entry was removed elsewhere, and what Save does", async () => {
  deck.expectConsoleErrors(/409/);
  const value = { command: "c", env: { TOKEN: "t-1" } };
  await deck.server.call("PATCH", "settings", { changes: { "mcp_servers.gone": value } });
  const page = await openSettings(deck, "mcp");
  const row = entry(page, "mcp_servers", "gone");
  const warning = form(page).locator(".field-warning");
  const reload = () => page.getByRole("button", { name: "Reload" }).click();
  await row.getByRole("button", { name: "Edit" }).click();
  await fillField(form(page), "Arguments", "--typed");
  await form(page).getByLabel("Arguments").focus();
  await deck.server.call("PATCH", "settings", { changes: { "mcp_servers.gone": null } });
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(warning, "This MCP server is no longer in your settings file. Save adds it again; its secrets are not kept, so enter them again.");
  assert.doesNotMatch(await settingsFile(deck.server), /mcp_servers\.gone/, "nothing is written back without a word");
  assert.equal(await form(page).getByLabel("Arguments").inputValue(), "--typed");
  assert.equal(await row.getByRole("button", { name: "Remove MCP server gone" }).isVisible(), false);
  await checkAccessibility(page, "an entry that is gone");

  await deck.server.call("PATCH", "settings", { changes: { "mcp_servers.gone": value } });
  await reload();
  await warning.waitFor({ state: "hidden" });
  await waitForText(form(page).locator('[data-field="env"] .secret-kept'), /Set, not shown/);
  await deck.server.call("PATCH", "settings", { changes: { "mcp_servers.gone": null } });
  await reload();
  await warning.waitFor();
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  assert.deepEqual((await deck.server.call("GET", "settings")).settings.find(({ key }) => key === "mcp_servers.gone").value, { command: "c", args: ["--typed"], type: "stdio" });

  await row.getByRole("button", { name: "Edit" }).click();
  await deck.server.call("PATCH", "settings", { changes: { "mcp_servers.gone": null } });
  await reload();
  await warning.waitFor();
  await form(page).getByRole("button", { name: "Cancel" }).click();
  await row.waitFor({ state: "detached" });
});

test("what the server refuses is said with the names of the form, and a duration with an example", async () => {
  deck.expectConsoleErrors(/400/);
  const page = await openSettings(deck, "models");
  await page.getByRole("button", { name: "Add provider" }).click();
  await fillField(form(page), "Name", "refused");
  await fillField(form(page), "Address", "not a url");
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(form(page).locator(".field-problem"), 'Address is "not a url"; it must be an address such as "http://localhost:11434/v1".');
  assert.equal(await form(page).getByLabel("Address").getAttribute("aria-invalid"), "true");
  await fillField(form(page), "Address", "http://localhost");
  assert.equal(await form(page).getByLabel("Address").getAttribute("aria-invalid"), null);

  await page.goto(`${deck.server.url}/settings.html#mcp`);
  await page.getByRole("button", { name: "Add MCP server" }).click();
  await fillField(form(page), "Name", "refused");
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(form(page).locator(".field-problem"), "Command is missing: set it to the program to start.");

  await page.goto(`${deck.server.url}/settings.html#notifications`);
  await page.getByRole("button", { name: "Add target" }).click();
  await fillField(form(page), "Name", "refused");
  await fillField(form(page), "Address", "url");
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(form(page).locator(".field-problem"), "Address must be an address that begins with http:// or https://.");
  await fillField(form(page), "Address", service.url);
  for (const typed of ["soon", "5", "10 parsecs"]) {
    await fillField(form(page), "Minimum duration", typed);
    await form(page).getByRole("button", { name: "Save" }).click();
    await waitForText(form(page).locator(".field-problem"), `Minimum duration: "${typed}" is not a duration. Enter a number and a unit, such as 30s or 5m.`);
    assert.equal(await form(page).getByLabel("Minimum duration").getAttribute("aria-invalid"), "true");
  }
  assert.doesNotMatch(await settingsFile(deck.server), /refused/);
});

test("an ACP agent is an agent at once, has defaults, and is checked", async () => {
  const page = await openSettings(deck, "agents");
  await page.getByRole("button", { name: "Add agent" }).click();
  await fillField(form(page), "Name", "mine");
  await fillField(form(page), "Command", "/no/such/agent");
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  await page.locator('.runtime-defaults[data-runtime="acp:mine"]').waitFor();
  await entry(page, "acp", "mine").getByRole("button", { name: "Check: agent mine" }).click();
  await waitForText(entry(page, "acp", "mine").locator(".entry-said.is-bad"), /\/no\/such\/agent.*\. Install the program, or fix its command/);
  assert.doesNotMatch(await settingsFile(deck.server), /hello_within/, "defaults are not written");
});

test("the defaults of an agent are set, count for new sessions, and are taken back", async () => {
  const page = await openSettings(deck, "agents");
  const demo = page.locator('.runtime-defaults[data-runtime="demo"]');
  await demo.locator("summary").click();
  await demo.getByLabel("Model").fill("demo-slow");
  await demo.getByLabel("Permission mode").selectOption("deny");
  await demo.getByRole("button", { name: "Save" }).click();
  await waitForText(demo.locator(".runtime-set"), "model demo-slow · Deny everything");
  const details = await deck.server.call("POST", "copilot/session", { runtime: "demo" });
  assert.deepEqual([details.model, details.permissionMode], ["demo-slow", "deny"]);

  const headless = page.locator('.runtime-defaults[data-runtime="copilot-headless"]');
  assert.equal(await headless.locator(".runtime-name b").textContent(), "GitHub Copilot (Headless)");
  await headless.locator("summary").click();
  await headless.getByLabel("Stream").selectOption("false");
  await headless.getByLabel("Most autopilot turns").fill("3");
  await headless.getByRole("button", { name: "Save" }).click();
  await waitForText(headless.locator(".runtime-set"), "2 options");
  const text = await settingsFile(deck.server);
  assert.match(text, /stream = false/);
  assert.match(text, /max_autopilot_continues = 3/);
  await headless.getByLabel("Stream").selectOption("");
  await headless.getByLabel("Most autopilot turns").fill("");
  await headless.getByRole("button", { name: "Save" }).click();
  await waitForText(headless.locator(".runtime-set"), "No defaults");
  assert.doesNotMatch(await settingsFile(deck.server), /copilot-headless/);
  await deck.server.call("PATCH", "settings", { changes: { "runtimes.demo": null } });
});

test("an alias may have any name", async () => {
  const page = await openSettings(deck, "jobs");
  await page.getByRole("button", { name: "Add alias" }).click();
  await fillField(form(page), "Name", "claude-haiku-*");
  await fillField(form(page), "Model", "gpt-5-mini");
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(entry(page, "capture.aliases", "claude-haiku-*").locator(".entry-summary"), "→ gpt-5-mini");
  await fileSays(deck.server, '"claude-haiku-*" = "gpt-5-mini"');
});

test("a target of notifications gets a test at once, and its address is not shown", async () => {
  deck.expectConsoleErrors(/400/);
  const page = await openSettings(deck, "notifications");
  await page.getByRole("button", { name: "Add target" }).click();
  await fillField(form(page), "Name", "phone");
  await form(page).getByLabel("Type").selectOption("gotify");
  await fillField(form(page), "Address", service.url);
  await form(page).getByRole("button", { name: "Save" }).click();
  await waitForText(form(page).locator(".field-problem"), /Gotify needs the token of an application/);
  await fillField(form(page), "Token", "tok-1");
  await form(page).getByLabel("Finished").uncheck();
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  const row = entry(page, "notifications.targets", "phone");
  await waitForText(row.locator(".entry-summary"), "gotify · needs-you, failed");
  service.requests.length = 0;
  await row.getByRole("button", { name: "Send test: target phone" }).click();
  await waitForText(row.locator(".entry-said.is-good"), "Delivered");
  assert.equal(service.requests[0].headers["x-gotify-key"], "tok-1");
  assert.doesNotMatch(await page.content(), new RegExp(service.url));
  service.status = 503;
  await row.getByRole("button", { name: "Send test: target phone" }).click();
  await waitForText(row.locator(".entry-said.is-bad"), "Not delivered: the target answered with status 503");
  service.status = 200;
  assert.match(await settingsFile(deck.server), /events = \["needs-you", "failed"\]/);

  const session = await deck.server.session();
  await deck.server.api("POST", `copilot/session/${session}/prompt`, { text: "error quota", wait: true });
  await waitFor(() => service.requests.some(({ body }) => /Failed/.test(body)), "a notification without a restart");
  await page.reload();
  await page.locator(".deliveries td").first().waitFor();
});

test("quiet hours are times of day", async () => {
  const page = await openSettings(deck, "notifications");
  const row = page.locator('.setting[data-key="notifications.quiet_from"]');
  await row.locator("input").fill("22:00");
  await row.getByRole("button", { name: "Save" }).click();
  await fileSays(deck.server, 'quiet_from = "22:00"');
  await waitForText(row.locator(".setting-state"), "Saved");
});
