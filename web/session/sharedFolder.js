// Watches for other sessions that work in the folder of this one.

import { sessionList } from "../lib/sessionList.js";
import { keep, kept, parsed } from "../lib/storage.js";

const KEY = "flightdeck.sharedFolder";
/** Sessions whose dismissals are remembered. */
const MOST_KEPT = 50;

export class SharedFolder {
  #view;
  #shown = "";

  constructor(view) {
    this.#view = view;
    sessionList.addEventListener("change", () => this.#show(), { signal: view.signal });
    // A missing warning must not disturb the session.
    sessionList.load().catch(() => {});
  }

  #show() {
    if (this.#view.hasLeft) return;
    const { workingDirectory, sessionId, state } = this.#view.details;
    const dismissed = new Set(keptDismissals()[sessionId]);
    const others = state === "closed" ? [] : sessionList.workingIn(workingDirectory).filter((session) => session.sessionId !== sessionId && !dismissed.has(session.sessionId));
    const key = others.map((session) => `${session.sessionId} ${session.title}`).join("\n");
    if (key === this.#shown) return;
    this.#shown = key;
    this.#view.banners.showSharedFolder(others, () => this.#dismiss(others));
  }

  /** The same sessions are not named again; another one that begins to work here is. */
  #dismiss(others) {
    const { sessionId } = this.#view;
    const { [sessionId]: before = [], ...rest } = keptDismissals();
    const entries = [...Object.entries(rest).slice(1 - MOST_KEPT), [sessionId, [...before, ...others.map((session) => session.sessionId)]]];
    // Without storage it is dismissed on this page only.
    if (!keep(KEY, JSON.stringify(Object.fromEntries(entries)))) this.#view.banners.dismissSharedFolder();
    this.#shown = "";
  }
}

/** Dismissed warnings: session → the other sessions that were named. */
function keptDismissals() {
  return parsed(kept(KEY)) ?? {};
}
