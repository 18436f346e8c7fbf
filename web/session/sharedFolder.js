// Watches for other open sessions in the folder of this one.

import { sessionList } from "../lib/sessionList.js";

export class SharedFolder {
  #view;

  constructor(view) {
    this.#view = view;
    sessionList.addEventListener("change", () => this.#show(), { signal: view.signal });
    // A missing warning must not disturb the session.
    sessionList.load().catch(() => {});
  }

  #shown = "";

  #show() {
    if (this.#view.hasLeft) return;
    const { workingDirectory, sessionId, state } = this.#view.details;
    const others = state === "closed" ? [] : sessionList.openIn(workingDirectory).filter((session) => session.sessionId !== sessionId);
    const key = others.map((session) => `${session.sessionId} ${session.title}`).join("\n");
    if (key === this.#shown) return;
    this.#shown = key;
    this.#view.banners.showSharedFolder(others);
  }
}
