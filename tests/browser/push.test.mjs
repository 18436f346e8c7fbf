// Pushed notifications: from the server, through a push service, to the service worker that shows them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { shown, useDeck, waitFor, waitForText } from "./support/index.mjs";
import { PushService, Subscriber, verifiedClaims } from "./support/push.mjs";

// The shell shows no notifications of service workers.
const deck = useDeck({ wholeBrowser: true });
const WITH_WORKER = { serviceWorkers: "allow", permissions: ["notifications"] };

let service;
before(async () => {
  service = await PushService.start();
});
after(() => service.end());

/** A browser that subscribed, and its id at the server. */
async function subscribe(name, more = {}) {
  const subscriber = new Subscriber();
  const { id } = await deck.server.call("POST", "push", { endpoint: service.endpoint(name), keys: subscriber.keys, ...more });
  return { subscriber, id };
}

const browsers = async () => (await deck.server.call("GET", "push")).browsers;

/** A session that waits for a permission. */
async function waitingSession() {
  const id = await deck.server.session({ title: "Secret plan" });
  await deck.server.api("POST", `copilot/session/${id}/prompt`, { text: "permission" });
  return id;
}

/** A page whose service worker is active, and what delivers a message to that worker as a push service would. */
async function openReceiver(context, path = "/") {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  // What is delivered before Chromium itself has activated the worker is dropped without a word.
  const activated = new Promise((resolve) => {
    session.on("ServiceWorker.workerVersionUpdated", ({ versions }) => {
      const active = versions.find(({ status, scriptURL }) => status === "activated" && scriptURL.startsWith(deck.server.url));
      if (active) resolve(active.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  await page.goto(deck.server.url + path);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const registrationId = await activated;
  const deliver = (data) => session.send("ServiceWorker.deliverPushMessage", { origin: deck.server.url, registrationId, data });
  const shownNow = () => page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title, body, tag, data }) => ({ title, body, tag, address: data?.address })));
  return { page, deliver, shownNow };
}

test("a message is encrypted for the browser, signed by the server, and says nothing of what was asked", async () => {
  const { subscriber, id } = await subscribe("encrypted");
  const session = await waitingSession();
  const [{ headers, body }] = await service.requests("encrypted");
  assert.deepEqual(JSON.parse(subscriber.decrypt(body)), { event: "needs-you", kind: "session", id: session, reason: "permission" });
  const { key, header, claims } = verifiedClaims(headers.authorization);
  assert.equal(key, (await deck.server.call("GET", "push")).publicKey);
  assert.deepEqual(header, { typ: "JWT", alg: "ES256" });
  assert.equal(claims.aud, new URL(service.endpoint("x")).origin);
  assert.ok(claims.exp > Date.now() / 1000 && claims.exp < Date.now() / 1000 + 24 * 3600);
  assert.match(claims.sub, /^(mailto:|https:)/);
  const { "content-encoding": encoding, ttl, urgency, topic } = headers;
  assert.deepEqual([encoding, ttl, urgency], ["aes128gcm", "86400", "high"]);
  assert.match(topic, /^[\w-]{1,32}$/);
  await deck.server.call("DELETE", `push/${id}`).catch(() => {});
});

test("a browser hears of what it chose, and a test reaches it", async () => {
  const { subscriber, id } = await subscribe("chosen", { events: ["failed"] });
  const session = await waitingSession();
  const failing = await deck.server.session();
  await deck.server.api("POST", `copilot/session/${failing}/prompt`, { text: "error quota", wait: true });
  const [{ body }] = await service.requests("chosen");
  const { event, id: about } = JSON.parse(subscriber.decrypt(body));
  assert.deepEqual([event, about], ["failed", failing], `not ${session}`);
  assert.deepEqual(await deck.server.call("POST", "notifications/test", { target: id }), { target: id, delivered: true, error: null });
  const requests = await service.requests("chosen", 2);
  assert.deepEqual(JSON.parse(subscriber.decrypt(requests[1].body)), { event: "test" });
  await deck.server.api("DELETE", `push/${id}`);
});

test("what a push service cannot take now is sent again, and a browser that is gone is removed", async () => {
  const { subscriber, id } = await subscribe("flaky");
  service.answers.push(429, 503);
  await waitingSession();
  const requests = await service.requests("flaky", 3);
  const texts = requests.map(({ body }) => subscriber.decrypt(body));
  assert.equal(new Set(texts).size, 1, "the same message");
  assert.notDeepEqual(requests[0].body, requests[1].body, "each message has its own key");
  assert.ok((await browsers()).some((browser) => browser.id === id));
  service.answers.push(410);
  await waitingSession();
  await waitFor(async () => !(await browsers()).some((browser) => browser.id === id), "the browser to go");
  const { deliveries, targets } = await deck.server.call("GET", "notifications");
  assert.equal(deliveries.find(({ target }) => target === id).state, "given-up");
  assert.ok(!targets.some(({ name }) => name === id));
});

test("a subscription is checked, listed without its secrets, and survives a restart", async () => {
  const { keys } = new Subscriber();
  for (const body of [
    { endpoint: "http://push.example/x", keys },
    { endpoint: "http://169.254.169.254/", keys },
    { endpoint: "file:///etc/passwd", keys },
    { endpoint: service.endpoint("x"), keys: { ...keys, auth: "short" } },
    { endpoint: service.endpoint("x"), keys: { ...keys, p256dh: keys.auth } },
  ]) {
    const { status, json } = await deck.server.api("POST", "push", body);
    assert.deepEqual([status, json.error], [400, "InvalidSubscription"], body.endpoint);
  }
  const { secret: token } = await deck.server.call("POST", "tokens", { scopes: ["admin"], name: "robot" });
  const refused = await fetch(`${deck.server.url}/api/push`, { method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }, body: JSON.stringify({ endpoint: service.endpoint("x"), keys }) });
  assert.deepEqual([refused.status, (await refused.json()).error], [403, "LoginRequired"]);
  const { subscriber, id } = await subscribe("kept");
  const { text } = await deck.server.api("GET", "push");
  assert.ok(text.includes(id) && text.includes("127.0.0.1"), text);
  for (const secret of ["/push/kept", subscriber.keys.auth, subscriber.keys.p256dh]) assert.ok(!text.includes(secret), text);
  const { publicKey } = await deck.server.call("GET", "push");
  await deck.server.kill();
  await deck.server.startAgain();
  assert.equal((await deck.server.call("GET", "push")).publicKey, publicKey);
  await waitingSession();
  const [{ body }] = await service.requests("kept");
  assert.match(subscriber.decrypt(body), /needs-you/);
  assert.equal((await deck.server.api("DELETE", `push/${id}`)).status, 204);
  assert.equal((await deck.server.api("DELETE", `push/${id}`)).json.error, "BrowserNotFound");
  assert.ok(!deck.server.stderr.includes("/push/kept"), "the address is in no log");
});

test("the service worker shows a message in its own words, and a click opens the session", async () => {
  const { subscriber, id } = await subscribe("shown");
  const session = await waitingSession();
  const [{ body }] = await service.requests("shown");
  const context = await deck.openContext(WITH_WORKER);
  const { deliver, shownNow } = await openReceiver(context);
  await deliver(subscriber.decrypt(body));
  const [notification] = await waitFor(async () => {
    const all = await shownNow();
    return all.length > 0 && all;
  }, "the notification");
  assert.deepEqual(notification, { title: "A session needs your input", body: `${session} · permission`, tag: `flightdeck-${session}`, address: `/?session=${session}` });
  // A second message about the session replaces the first, and one that cannot be read is shown nevertheless.
  await deliver(JSON.stringify({ event: "failed", kind: "session", id: session }));
  await deliver("{ this is not JSON");
  await deliver(JSON.stringify({ event: "needs-you", kind: "session", id: "session-1\"><script>" }));
  await waitFor(async () => (await shownNow()).map(({ title }) => title).toSorted().join() === "A session has failed,Flightdeck", "both notifications");
  const [worker] = context.serviceWorkers();
  const opened = await worker.evaluate(async () => {
    const addresses = [];
    Clients.prototype.openWindow = async (address) => void addresses.push(address);
    const [found] = (await self.registration.getNotifications()).filter(({ tag }) => tag !== "flightdeck-unknown");
    const event = new NotificationEvent("notificationclick", { notification: found });
    const done = new Promise((resolve) => {
      event.waitUntil = (work) => work.then(resolve);
    });
    self.dispatchEvent(event);
    await done;
    return addresses;
  });
  assert.deepEqual(opened, [`${deck.server.url}/?session=${session}`]);
  await deck.server.api("DELETE", `push/${id}`);
});

/** A browser whose push service is that of the test, under `name`. */
async function pushedContext(name) {
  const subscriber = new Subscriber();
  const context = await deck.openContext(WITH_WORKER);
  // A test has no push service that Chromium would use.
  await context.addInitScript(
    ({ endpoint, keys }) => {
      if (!globalThis.PushManager) return;
      const subscription = { endpoint, options: { applicationServerKey: null }, toJSON: () => ({ endpoint, keys, expirationTime: null }), unsubscribe: async () => localStorage.removeItem("test.subscribed") };
      PushManager.prototype.getSubscription = async () => (localStorage.getItem("test.subscribed") ? subscription : null);
      PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
        window.subscribedWith = { userVisibleOnly, length: applicationServerKey.length };
        localStorage.setItem("test.subscribed", "yes");
        return subscription;
      };
      Object.defineProperty(Notification, "permission", { get: () => "granted" });
      Notification.requestPermission = async () => "granted";
    },
    { endpoint: service.endpoint(name), keys: subscriber.keys },
  );
  return { context, subscriber };
}

test("the menu turns pushed notifications of this browser on and off", async () => {
  const { context, subscriber } = await pushedContext("menu");
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/`);
  await page.locator("#more-button:enabled").click();
  await page.locator("#push-entry").click();
  await waitForText(page.locator("#push-entry"), /Notify this browser: on/);
  assert.deepEqual(await page.evaluate(() => window.subscribedWith), { userVisibleOnly: true, length: 65 });
  const [browser] = (await browsers()).filter(({ name }) => name.startsWith("Chrome"));
  assert.deepEqual(browser.events, ["needs-you", "finished", "failed"]);
  const session = await waitingSession();
  const [{ body }] = await service.requests("menu");
  assert.equal(JSON.parse(subscriber.decrypt(body)).id, session);
  // It stays on after a reload; a new login tells the server again.
  await page.reload();
  await page.locator("#more-button:enabled").click();
  await waitForText(page.locator("#push-entry"), /Notify this browser: on/);
  await page.locator("#push-entry").click();
  await waitForText(page.locator("#push-entry"), /even when no page is open/);
  assert.ok(!(await browsers()).some(({ id }) => id === browser.id));
});

test("the settings turn pushed notifications on and off, send a test, and agree with the menu and other tabs", async () => {
  const { context, subscriber } = await pushedContext("settings");
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/settings.html#appearance`);
  const other = await context.newPage();
  await other.goto(`${deck.server.url}/settings.html#appearance`);
  const pushSwitch = page.getByRole("switch", { name: "Even when no page is open" });
  const test = page.getByRole("button", { name: "Send test" });
  const failure = page.locator('.setting[data-key="push-switch"] [role="alert"]');
  await page.locator("#push-switch:enabled").waitFor();
  assert.equal(await test.count(), 0, "there is nothing to test yet");
  await pushSwitch.click();
  await test.waitFor();
  // While it is being turned on, the switch is disabled, which takes the focus from it.
  await page.locator("#push-switch:checked:enabled").waitFor();
  await waitFor(async () => (await page.evaluate(() => document.activeElement.id)) === "push-switch", "the focus on the switch");
  await other.locator("#push-switch:checked").waitFor();
  await test.click();
  await page.getByText("Test sent").waitFor();
  const [{ body }] = await service.requests("settings");
  assert.deepEqual(JSON.parse(subscriber.decrypt(body)), { event: "test" });
  // What goes wrong is said in words.
  service.answers.push(400);
  await test.click();
  await waitForText(failure, /The test was not delivered: .+400/);
  // The menu of another tab knows, and turns it off.
  const home = await context.newPage();
  await home.goto(`${deck.server.url}/`);
  await home.locator("#more-button:enabled").click();
  await waitForText(home.locator("#push-entry"), /Notify this browser: on/);
  await home.locator("#push-entry").click();
  await page.locator("#push-switch:not(:checked):enabled").waitFor();
  await other.locator("#push-switch:not(:checked)").waitFor();
  assert.equal(await test.count(), 0);
  // An error leaves the switch off.
  await page.evaluate(() => {
    PushManager.prototype.subscribe = async () => {
      throw new Error("no route");
    };
  });
  await pushSwitch.click();
  await waitForText(failure, "The browser's push service rejected the subscription: no route");
  await page.locator("#push-switch:not(:checked):enabled").waitFor();
});

test("the settings say why notifications cannot be pushed", async () => {
  const context = await deck.openContext(WITH_WORKER);
  await context.addInitScript(() => Object.defineProperty(Notification, "permission", { get: () => "denied" }));
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/settings.html#appearance`);
  await waitForText(page.locator("#push-switch-problem"), "Notifications are blocked. Allow them for this page in the browser's settings.");
  assert.equal(await page.locator("#push-switch").isDisabled(), true);
  assert.equal(await page.locator("#push-test").isVisible(), false);
});

test("a notification of a job opens the page of the job", async () => {
  const page = await (await deck.openContext()).newPage();
  await page.route(/\/api\/jobs\/job-7$/, (route) => route.fulfill({ json: { jobId: "job-7", jobName: "review" } }));
  await page.route(/jobTracking\.html/, (route) => route.fulfill({ contentType: "text/html", body: "<p>the job</p>" }));
  await page.goto(`${deck.server.url}/?job=job-7`);
  await page.getByText("the job").waitFor();
  assert.equal(new URL(page.url()).search, "?jobName=review&jobId=job-7");
});

test("a page that is open leaves the notifications to the server", async () => {
  const context = await deck.openContext({ permissions: ["notifications"] });
  await context.addInitScript(() => {
    window.notified = [];
    window.Notification = class {
      static permission = "granted";
      constructor(title) {
        window.notified.push(title);
      }
    };
    if (!location.protocol.startsWith("http")) return;
    localStorage.setItem("flightdeck.notifications", "on");
    localStorage.setItem("flightdeck.push", JSON.stringify({ id: "browser-999", endpoint: "https://push.example/x", login: "" }));
  });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/?session=${await deck.server.session()}`);
  await shown(page);
  await waitingSession();
  await page.locator("#inbox-count:not([hidden])").waitFor();
  assert.deepEqual(await page.evaluate(() => window.notified), []);
});
