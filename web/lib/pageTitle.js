// The tab's title: how much waits for somebody, then what the page is about.

import { inbox } from "./inboxStream.js";

let subject = null;

export function setSubject(text) {
  subject = text;
  show();
}

function show() {
  const waiting = inbox.pendingCount;
  document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${subject ? `${subject} · ` : ""}Flightdeck`;
}

inbox.addEventListener("change", show);
