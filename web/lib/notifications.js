// Optional browser notifications when a session or a job needs input or finishes.

import { jobAddress, sessionAddress } from "./address.js";
import { exactString } from "./exactText.js";
import { inbox } from "./inboxStream.js";
import { isPushed } from "./push.js";
import { startServiceWorker } from "./serviceWorker.js";
import { keep, kept } from "./storage.js";

const KEY = "flightdeck.notifications";
/** A tab that shows a session or a job holds a lock of this name while it can be seen. */
const SEEN = "flightdeck-seen-";

class Notifications {
  #letGo = null;

  constructor() {
    inbox.addEventListener("entry", ({ detail: { entry, before, isNew } }) => {
      const known = before ?? (isNew ? { ...entry, state: null, pending: [] } : null);
      this.#hear(entry.sessionId, sessionAddress(entry.sessionId), known && newsOf(entry, known));
    });
    inbox.addEventListener("job", ({ detail: { job, before, isNew } }) => {
      const known = before ?? (isNew ? { ...job, status: null, waiting: [] } : null);
      this.#hear(job.jobId, jobAddress(job), known && jobNewsOf(job, known));
    });
  }

  get isPossible() {
    return "Notification" in globalThis && Notification.permission !== "denied";
  }

  get isOn() {
    return this.isPossible && Notification.permission === "granted" && kept(KEY) === "on";
  }

  /** Why notifications are unavailable. */
  get problem() {
    if (!("Notification" in globalThis)) return "Notifications need HTTPS or localhost in this browser.";
    if (Notification.permission === "denied") return "Notifications are blocked. Allow them for this page in the browser's settings.";
    return null;
  }

  async toggle() {
    const on = !this.isOn;
    if (on && (await Notification.requestPermission()) !== "granted") return;
    // Without storage they stay off.
    keep(KEY, on ? "on" : "off");
  }

  /** This tab shows a session or a job, which needs no notification while the tab is visible. */
  setShown(id) {
    this.#letGo?.();
    this.#letGo = null;
    if (!id || !navigator.locks) return;
    const ended = new AbortController();
    const hold = () => {
      if (document.hidden || ended.signal.aborted) return;
      navigator.locks
        .request(SEEN + id, { mode: "shared", signal: ended.signal }, () => new Promise((resolve) => {
          const release = () => (document.hidden || ended.signal.aborted) && resolve();
          document.addEventListener("visibilitychange", release, { signal: ended.signal });
          ended.signal.addEventListener("abort", release);
        }))
        .catch(() => {});
    };
    document.addEventListener("visibilitychange", hold, { signal: ended.signal });
    hold();
    this.#letGo = () => ended.abort();
  }

  /** `news` is null when there is nothing to say: states from before the page loaded do not count. */
  async #hear(id, address, news) {
    // One tab notifies for all, unless the server does.
    if (!inbox.isListener || !this.isOn || isPushed() || !news || (await isSeen(id))) return;
    const options = { body: exactString(news.body), tag: `flightdeck-${id}`, icon: "favicon.svg" };
    try {
      const shown = new Notification(exactString(news.title), options);
      shown.onclick = () => {
        shown.close();
        window.open(address, `flightdeck-${id}`);
      };
    } catch {
      // Phones show notifications of service workers only.
      const registration = await startServiceWorker();
      await registration?.showNotification(exactString(news.title), { ...options, data: { address } });
    }
  }
}

/** What is worth a notification: `{ title, body }`, or null. */
function newsOf({ sessionId, title, state, detail, pending, failed = false }, before) {
  const name = title || sessionId;
  const known = new Set(before.pending.map(({ requestId }) => requestId));
  const request = pending.find(({ requestId }) => !known.has(requestId));
  if (request) return { title: `${name} needs your input`, body: request.headline };
  // A short turn may begin and end between two messages.
  if (failed && !before.failed && state === "ready") return { title: `${name} failed`, body: "" };
  if (state === before.state) return null;
  if (state === "needs-login") return { title: `${name} needs a login`, body: detail ?? "" };
  if (state === "failed") return { title: `${name} failed`, body: detail ?? "" };
  if (state === "ready" && ["working", "waiting"].includes(before.state)) return { title: `${name} ${failed ? "failed" : "finished"}`, body: "" };
  return null;
}

function jobNewsOf({ jobId, jobName, status, waiting }, before) {
  const name = jobName || jobId;
  const known = new Set(before.waiting.map(({ waitingId }) => waitingId));
  const fresh = waiting.find(({ waitingId }) => !known.has(waitingId));
  if (fresh) return { title: `${name} needs your input`, body: fresh.title };
  if (status === before.status || before.status !== "Running") return null;
  return { Succeeded: { title: `${name} succeeded`, body: "" }, Failed: { title: `${name} failed`, body: "" } }[status] ?? null;
}

async function isSeen(id) {
  if (!navigator.locks) return !document.hidden;
  try {
    const { held } = await navigator.locks.query();
    return held.some(({ name }) => name === SEEN + id);
  } catch {
    // Locks may be refused, as storage may be.
    return !document.hidden;
  }
}

export const notifications = new Notifications();
