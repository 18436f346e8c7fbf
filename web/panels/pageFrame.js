// The frame of the pages of jobs: the way back, the inbox, and their keys.

import { SETTINGS_PAGE } from "../lib/address.js";
import { byId, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { inbox } from "../lib/inboxStream.js";
import { notifications } from "../lib/notifications.js";
import { useInbox } from "./inbox.js";
// Loaded on demand elsewhere. The server may have stopped by then, so they are loaded here.
import "../lib/dialog.js";
import "../session/finished.js";

/** Sets up the frame. `keys` are actions with Alt, by the place of the key; `shown` is the id of the job on the page. */
export function pageFrame(keys = {}, shown = null) {
  byId("home-link").append(icon("back"));
  const button = byId("inbox-button");
  button.prepend(icon("inbox"), make("span", { class: "button-label", text: "Inbox" }), " ");
  const panel = useInbox();
  button.disabled = false;
  notifications.setShown(shown);
  inbox.addEventListener("connection", () => {
    const isLost = inbox.isConnected === false && !document.querySelector('[data-banner="connection"]');
    byId("connection-status").textContent = isLost ? "The server is not responding. Retrying …" : "";
  });
  const all = { KeyH: () => byId("home-link").click(), KeyI: () => panel.toggle(), Comma: () => location.assign(SETTINGS_PAGE), ...keys };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || !event.altKey || event.ctrlKey || event.metaKey || !all[event.code] || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    all[event.code]();
  });
  inbox.start();
}
