// The tab's title: the number of pending requests, then the page's subject.

import { exactString } from "./exactText.js";
import { inbox } from "./inboxStream.js";

let subject = null;

export function setSubject(text) {
  subject = text;
  show();
}

function show() {
  const waiting = inbox.pendingCount;
  document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${subject ? `${exactString(subject)} · ` : ""}Flightdeck`;
}

inbox.addEventListener("change", show);
