// The service worker. It keeps the shell of the pages (their files, which contain no data), so that they open without the
// server, and it shows pushed notifications. It never handles a request for data, and no login.

// The server fills these in: a new version of any file is a new worker, with a new cache.
const VERSION = "{{version}}";
const SHELL = ["{{shell}}"];

const CACHE = `flightdeck-${VERSION}`;
const IS_LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);
/** How long a page may take on a slow network before the kept one is shown. */
const PATIENCE = 3000;

const paths = new Set(SHELL);

self.addEventListener("install", (event) => {
  event.waitUntil(install());
});

self.addEventListener("activate", (event) => {
  event.waitUntil(activate());
});

async function install() {
  const cache = await caches.open(CACHE);
  // Past the browser's cache: a file without a version in its path must be that of this version.
  await cache.addAll(SHELL.map((path) => new Request(path, { cache: path.startsWith("/version/") ? "default" : "no-cache" })));
  await self.skipWaiting();
}

async function activate() {
  const old = (await caches.keys()).filter((name) => name.startsWith("flightdeck-") && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  // The browser asks the server for a page while this worker starts.
  await self.registration.navigationPreload?.enable();
  await self.clients.claim();
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !paths.has(pathname)) return;
  if (request.mode === "navigate") event.respondWith(page(event, pathname));
  else if (pathname.startsWith("/version/")) event.respondWith(keptFirst(request, pathname));
  else event.respondWith(newestFirst(fetch(request), pathname));
});

const kept = async (path) => (await caches.open(CACHE)).match(path);

/** Files below the path of a version never change. */
async function keptFirst(request, path) {
  return (await kept(path)) ?? fetch(request);
}

/** What the server answers, whatever that is; without an answer, what is kept. */
async function newestFirst(answer, path) {
  try {
    return await answer;
  } catch {
    return (await kept(path)) ?? Response.error();
  }
}

async function page(event, path) {
  const newest = newestFirst(Promise.resolve(event.preloadResponse).then((early) => early ?? fetch(event.request)), path);
  // A program on this machine answers at once or not at all; and another one may have taken this port.
  if (IS_LOOPBACK) return newest;
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE)).then(() => kept(path)).then((found) => found ?? newest);
  return Promise.race([newest, late]);
}

// Notifications. A message says what happened to which session or job, and nothing of what was said or asked there.

const HEADLINES = {
  session: { "needs-you": "A session needs your input", finished: "A session has finished", failed: "A session has failed" },
  job: { "needs-you": "A job needs your input", finished: "A job has finished", failed: "A job has failed" },
};

self.addEventListener("push", (event) => {
  event.waitUntil(notify(event.data));
});

async function notify(data) {
  const { title, body, tag, address } = newsOf(messageIn(data));
  // A browser demands that every message is shown.
  await self.registration.showNotification(title, {
    body,
    tag: `flightdeck-${tag}`,
    renotify: true,
    icon: "/icons/app-192.png",
    badge: "/icons/badge-96.png",
    data: { address },
  });
}

function messageIn(data) {
  try {
    return data.json() ?? {};
  } catch {
    return {};
  }
}

function newsOf({ event, kind, id, reason, count }) {
  const isKnown = (kind === "session" || kind === "job") && new RegExp(`^${kind}-\\d+$`).test(id);
  if (event === "test") return { title: "Flightdeck", body: "Notifications work in this browser.", tag: "test", address: "/" };
  if (event === "summary") return { title: "Flightdeck", body: `During quiet hours: ${count} ${count === 1 ? "notification" : "notifications"}`, tag: "summary", address: "/" };
  if (!isKnown) return { title: "Flightdeck", body: "Something needs your input.", tag: "unknown", address: "/" };
  return { title: HEADLINES[kind][event] ?? "Flightdeck", body: [id, reason].filter(Boolean).join(" · "), tag: id, address: `/?${kind}=${id}` };
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.address ?? "/"));
});

/** Shows a page of this server: the one that is open, or a new one. */
async function open(address) {
  const wanted = new URL(address, location.origin);
  if (wanted.origin !== location.origin) return;
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const same = pages.find(({ url }) => isSame(new URL(url), wanted));
  if (same) await same.focus();
  else await self.clients.openWindow(wanted.href);
}

/** Whether a page shows what an address names; it may have more in its address. */
function isSame(shown, wanted) {
  const parts = [...wanted.searchParams];
  const isThere = ([name, value]) => [name, `${name}Id`].some((one) => shown.searchParams.get(one) === value);
  return parts.length > 0 ? parts.every(isThere) : shown.pathname === wanted.pathname && shown.search === "";
}
