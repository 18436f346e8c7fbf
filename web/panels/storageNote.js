// Says on each page of a browser without storage what that means. Nothing can remember that it was read.

import { byId, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { hasStorage } from "../lib/storage.js";

export function showStorageNote() {
  if (hasStorage()) return;
  // Without a login there is no secret (see early.js).
  const lost = window.flightdeckSecret ? "If you reload this page or open another, you have to log in again, and drafts and preferences are lost." : "If you reload this page, drafts and preferences are lost.";
  const dismiss = make("button", { type: "button", class: "quiet-button icon-button", "aria-label": "Dismiss", title: "Dismiss", on: { click: () => note.remove() } }, icon("close"));
  const note = make("div", { id: "storage-note", class: "banner banner-info", role: "status" }, make("div", { class: "banner-body", text: `This browser's storage is off. ${lost}` }), dismiss);
  byId("main").prepend(note);
}
