// Watches for other sessions that work in the folder of this one, and says so below the request: there the text gives it
// room, so that it moves nothing that is being read or written.

import { sessionAddress } from "../lib/address.js";
import { byId, make } from "../lib/dom.js";
import { workingSentence } from "../lib/folderSessions.js";
import { icon } from "../lib/icons.js";
import { sessionList } from "../lib/sessionList.js";
import { keep, kept, parsed } from "../lib/storage.js";

const KEY = "flightdeck.sharedFolder";
/** Sessions whose dismissals are remembered. */
const MOST_KEPT = 50;

export class SharedFolder {
  #view;
  #shown = "";
  #note = null;
  /** Without storage, what was dismissed on this page. */
  #dismissed = [];

  constructor(view) {
    this.#view = view;
    sessionList.addEventListener("change", () => this.#show(), { signal: view.signal });
    view.signal.addEventListener("abort", () => this.#note?.remove());
    // A missing warning must not disturb the session.
    sessionList.load().catch(() => {});
  }

  #show() {
    if (this.#view.hasLeft) return;
    const { workingDirectory, sessionId, state } = this.#view.details;
    const dismissed = new Set([...(keptDismissals()[sessionId] ?? []), ...this.#dismissed]);
    const others = state === "closed" ? [] : sessionList.workingIn(workingDirectory).filter((session) => session.sessionId !== sessionId && !dismissed.has(session.sessionId));
    const key = others.map((session) => `${session.sessionId} ${session.title}`).join("\n");
    if (key === this.#shown) return;
    this.#shown = key;
    const note = others.length > 0 ? noteOf(others, () => this.#dismiss()) : null;
    if (this.#note && note) this.#note.replaceWith(note);
    else if (note) byId("composer-text").after(note);
    else this.#note?.remove();
    this.#note = note;
  }

  /** The same sessions are not named again; another one that begins to work here is. */
  #dismiss() {
    const { sessionId } = this.#view;
    const others = sessionList.workingIn(this.#view.details.workingDirectory).map((session) => session.sessionId);
    const { [sessionId]: before = [], ...rest } = keptDismissals();
    const entries = [...Object.entries(rest).slice(1 - MOST_KEPT), [sessionId, [...new Set([...before, ...others])]]];
    if (!keep(KEY, JSON.stringify(Object.fromEntries(entries)))) this.#dismissed.push(...others);
    this.#show();
  }
}

function noteOf(others, dismiss) {
  const link = ({ sessionId }, name) => make("a", { href: sessionAddress(sessionId), data: { local: "" }, ...name });
  return make(
    "div",
    { id: "folder-note", role: "status", data: { banner: "shared-folder" } },
    make("p", { class: "folder-sentence" }, ...workingSentence(others, link)),
    make("button", { type: "button", class: "quiet-button icon-button", "aria-label": "Dismiss", title: "Dismiss", on: { click: dismiss } }, icon("close")),
  );
}

/** Dismissed warnings: session → the other sessions that were at work. */
function keptDismissals() {
  return parsed(kept(KEY)) ?? {};
}
