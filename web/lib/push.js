// Pushed notifications: they reach this browser also while no page is open. The browser's push service forwards them,
// encrypted; the service worker (sw.js) shows them.

import { ask } from "./api.js";
import { startServiceWorker } from "./serviceWorker.js";
import { keep, kept, parsed } from "./storage.js";

/** What the server knows this browser by: `{ id, endpoint, login }`, with a mark of the login that it belongs to. */
const KEY = "flightdeck.push";
/** Dispatches "change" when they are turned on or off, on this page or in another tab. */
export const pushChanges = new EventTarget();
/** What the browser did not keep. */
let unkept = null;
addEventListener("storage", ({ key }) => key === KEY && changed());

/**
 * Whether notifications are pushed to this browser: `{ isPossible, isOn, problem }`. `problem` says in words why they cannot be,
 * or is null.
 */
export async function pushState() {
  const problem = problemHere();
  if (problem) return { isPossible: false, isOn: false, problem };
  const registration = await startServiceWorker();
  if (!registration) return { isPossible: false, isOn: false, problem: "This browser does not allow a service worker here, so notifications stop when the page closes." };
  const subscription = await registration.pushManager.getSubscription();
  return { isPossible: true, isOn: Boolean(subscription) && keptSubscription()?.endpoint === subscription.endpoint, problem: null };
}

/** Whether the server pushes notifications to this browser, as far as is known without asking. */
export function isPushed() {
  return keptSubscription() !== null;
}

/** Subscribes this browser. Asks for the permission if needed. Rejects with an error for people. */
export async function enablePush() {
  const { isPossible, problem } = await pushState();
  if (!isPossible) throw new Error(problem);
  if ((await Notification.requestPermission()) !== "granted") throw new Error("The browser does not allow notifications for this page.");
  const registration = await readyRegistration();
  const { publicKey } = await ask("/api/push");
  await register(await subscribe(registration, publicKey));
  changed();
}

/** Ends the subscription of this browser, here and on the server. */
export async function disablePush() {
  const { id } = keptSubscription() ?? {};
  keepSubscription(null);
  const registration = await startServiceWorker();
  const subscription = await registration?.pushManager?.getSubscription();
  await subscription?.unsubscribe();
  changed();
  if (!id) return;
  try {
    await ask(`/api/push/${id}`, { method: "DELETE" });
  } catch (problem) {
    // The server removed it already, or hears from the push service that it is gone.
    if (problem.isUnreachable) return;
    if (problem.status !== 404) throw problem;
  }
}

/** Sends a test to this browser. Resolves with null, or with what went wrong. */
export async function testPush() {
  const { id } = keptSubscription() ?? {};
  if (!id) return "Notifications are off in this browser.";
  const { delivered, error } = await ask("/api/notifications/test", { json: { target: id } });
  return delivered ? null : error;
}

/** A browser may change its subscription, and a new login needs it too: tells the server when that has happened. */
export async function renewPush() {
  const known = keptSubscription();
  if (!known || problemHere()) return;
  const registration = await startServiceWorker();
  if (!registration) return;
  const subscription = await registration.pushManager.getSubscription();
  if (!subscription) keepSubscription(null);
  else if (subscription.endpoint !== known.endpoint || loginMark() !== known.login) await register(subscription);
}

function changed() {
  pushChanges.dispatchEvent(new Event("change"));
}

function problemHere() {
  if (!window.isSecureContext) return "Push notifications need HTTPS (or localhost).";
  if (!("serviceWorker" in navigator) || !("PushManager" in window)) {
    // Safari on iPhones offers it to installed apps only.
    return /iPhone|iPad/.test(navigator.userAgent) ? "Add Flightdeck to the home screen first, then turn notifications on there." : "This browser does not support push notifications.";
  }
  if (Notification.permission === "denied") return "Notifications are blocked. Allow them for this page in the browser's settings.";
  return null;
}

/** A subscription needs a service worker that is active. */
async function readyRegistration() {
  await startServiceWorker();
  return navigator.serviceWorker.ready;
}

async function subscribe(registration, publicKey) {
  const applicationServerKey = bytesOf(publicKey);
  const options = { userVisibleOnly: true, applicationServerKey };
  const earlier = await registration.pushManager.getSubscription();
  // One for another key is of a server that had this address before.
  if (earlier && !isSame(earlier.options.applicationServerKey, applicationServerKey)) await earlier.unsubscribe();
  try {
    return await registration.pushManager.subscribe(options);
  } catch (error) {
    throw new Error(`The browser's push service rejected the subscription: ${error.message}`);
  }
}

async function register(subscription) {
  const { endpoint, keys } = subscription.toJSON();
  const { id } = await ask("/api/push", { json: { endpoint, keys, events: ["needs-you", "finished", "failed"] } });
  keepSubscription({ id, endpoint, login: loginMark() });
}

/** Changes with each login: the end of the secret, which is useless without the rest. */
function loginMark() {
  return kept("flightdeck.secret")?.slice(-8) ?? "";
}

function keptSubscription() {
  return parsed(kept(KEY)) ?? unkept;
}

/** Without storage the state is unknown after a reload, and can be turned on again. */
function keepSubscription(state) {
  unkept = keep(KEY, state && JSON.stringify(state)) ? null : state;
}

function bytesOf(base64url) {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function isSame(one, other) {
  const bytes = new Uint8Array(one ?? []);
  return bytes.length === other.length && bytes.every((byte, index) => byte === other[index]);
}
