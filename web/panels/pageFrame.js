// The frame of the pages of jobs and settings: the way back, the inbox, and their keys.

import { SETTINGS_PAGE } from "../lib/address.js";
import { byId, isWriting, make, writesWithAlt } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { inbox } from "../lib/inboxStream.js";
import { notifications } from "../lib/notifications.js";
import { Around, goToRequest } from "./around.js";
import { useKeyHelp } from "./keyHelp.js";
import { startServiceWorker } from "../lib/serviceWorker.js";
// Loaded on demand elsewhere. The server may have stopped by then, so they are loaded here.
import "../lib/dialog.js";
import "../session/finished.js";

/**
 * Sets up the frame. `keys` are actions with Alt, by the place of the key; `shown` is the id of the job on the page;
 * `shortcuts` are the groups that `?` lists.
 */
export function pageFrame(keys = {}, shown = null, shortcuts = null) {
  byId("home-link").append(icon("back"));
  const button = byId("inbox-button");
  button.prepend(icon("inbox"), make("span", { class: "button-label", text: "Inbox" }), " ");
  const help = shortcuts ? useKeyHelp(shortcuts) : null;
  const around = new Around(() => [
    { id: "new-session", label: "New session", key: "Alt+H", also: "start all sessions home", run: () => byId("home-link").click() },
    ...(help ? [{ id: "keys", label: "Keyboard shortcuts", key: "?", also: "keys help", run: () => help.open() }] : []),
  ]);
  button.disabled = false;
  notifications.setShown(shown);
  inbox.addEventListener("connection", () => {
    const isLost = inbox.isConnected === false && !document.querySelector('[data-banner="connection"]');
    byId("connection-status").textContent = isLost ? "The server is not responding. Retrying …" : "";
  });
  const toRequest = () => {
    const requests = around.requests([]);
    // The page's own come first, unless the person is in the inbox.
    if (requests.length > 0 && (!keys.KeyA || byId("side-panel").contains(document.activeElement))) goToRequest(requests);
    else keys.KeyA?.();
  };
  const all = { ...around.keys, KeyH: () => byId("home-link").click(), Comma: () => location.assign(SETTINGS_PAGE), ...keys, KeyA: toRequest };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || !event.altKey || event.ctrlKey || event.metaKey || !all[event.code] || writesWithAlt(event) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    all[event.code]();
  });
  if (help) listenForHelp(help);
  inbox.start();
  startServiceWorker();
}

function listenForHelp(help) {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    if (help.isOpen) help.close();
    else help.open({ opener: document.activeElement });
  });
}
