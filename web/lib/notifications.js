// Optional browser notifications when a session needs input or finishes.

import { sessionAddress } from "./address.js";
import { exactString } from "./exactText.js";
import { inbox } from "./inboxStream.js";

const KEY = "flightdeck.notifications";
/** A tab that shows a session holds a lock of this name while it can be seen. */
const SEEN = "flightdeck-seen-";

class Notifications {
  #letGo = null;

  constructor() {
    inbox.addEventListener("entry", ({ detail: { entry, before } }) => this.#hear(entry, before));
  }

  get isPossible() {
    return "Notification" in globalThis && Notification.permission !== "denied";
  }

  get isOn() {
    try {
      return this.isPossible && Notification.permission === "granted" && localStorage.getItem(KEY) === "on";
    } catch {
      return false;
    }
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
    try {
      localStorage.setItem(KEY, on ? "on" : "off");
    } catch {
      // They stay off.
    }
  }

  /** This tab shows a session; it needs no notification while the tab is visible. */
  setShownSession(sessionId) {
    this.#letGo?.();
    this.#letGo = null;
    if (!sessionId || !navigator.locks) return;
    const ended = new AbortController();
    const hold = () => {
      if (document.hidden || ended.signal.aborted) return;
      navigator.locks
        .request(SEEN + sessionId, { mode: "shared", signal: ended.signal }, () => new Promise((resolve) => {
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

  async #hear(entry, before) {
    // One tab notifies for all; states from before the page loaded do not count.
    if (!inbox.isListener || !this.isOn || !before) return;
    const news = newsOf(entry, before);
    if (!news || (await isSeen(entry.sessionId))) return;
    const shown = new Notification(exactString(news.title), { body: exactString(news.body), tag: `flightdeck-${entry.sessionId}`, icon: "favicon.svg" });
    shown.onclick = () => {
      shown.close();
      window.open(sessionAddress(entry.sessionId), `flightdeck-${entry.sessionId}`);
    };
  }
}

/** What is worth a notification: `{ title, body }`, or null. */
function newsOf({ sessionId, title, state, detail, pending }, before) {
  const name = title || sessionId;
  const known = new Set(before.pending.map(({ requestId }) => requestId));
  const request = pending.find(({ requestId }) => !known.has(requestId));
  if (request) return { title: `${name} needs your input`, body: request.headline };
  if (state === before.state) return null;
  if (state === "needs-login") return { title: `${name} needs a login`, body: detail ?? "" };
  if (state === "failed") return { title: `${name} failed`, body: detail ?? "" };
  if (state === "ready" && ["working", "waiting"].includes(before.state)) return { title: `${name} finished`, body: "" };
  return null;
}

async function isSeen(sessionId) {
  if (!navigator.locks) return !document.hidden;
  const { held } = await navigator.locks.query();
  return held.some(({ name }) => name === SEEN + sessionId);
}

export const notifications = new Notifications();
