// What has changed in the session's working directory, as git sees it. Nothing can be changed from here.

import { ask, sessionPath } from "../lib/api.js";
import { byId, make } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { onRenderedClick, parseRendered } from "../session/renderedContent.js";
import { SidePanel } from "./sidePanel.js";

const STATUS = { modified: "M", added: "A", deleted: "D", renamed: "R", untracked: "U" };

/** The panel for the session that `current()` returns. */
export function useChanges(current) {
  return new SidePanel({ title: "Changes", button: byId("changes-button"), wide: true, build: (body) => new Changes(body, current()).start() });
}

class Changes {
  #body;
  #view;
  #open = new Set();
  #closed = new AbortController();

  constructor(body, view) {
    this.#body = body;
    this.#view = view;
  }

  start() {
    this.#load();
    // The files have probably changed at the end of a turn.
    let state = this.#view.details?.state;
    this.#view.addEventListener(
      "change",
      () => {
        const now = this.#view.details?.state;
        if (state !== now && now === "ready") this.#load();
        state = now;
      },
      { signal: this.#closed.signal },
    );
    return () => this.#closed.abort();
  }

  async #load() {
    if (!this.#body.hasChildNodes()) this.#body.replaceChildren(make("p", { class: "empty", text: "Loading changes …" }));
    try {
      this.#show(await ask(sessionPath(this.#view.sessionId, "changes"), { signal: this.#closed.signal }));
    } catch (problem) {
      if (this.#closed.signal.aborted) return;
      this.#body.replaceChildren(make("p", { class: "field-problem", role: "alert", text: `Could not load changes: ${problem.message}` }), this.#again());
    }
  }

  #again() {
    return make("button", { type: "button", class: "quiet-button", text: "Refresh", on: { click: () => this.#load() } });
  }

  #show({ repository, branch, files, truncated, message }) {
    if (!repository) {
      this.#body.replaceChildren(make("p", { class: "empty", text: message ?? "The working directory is not in a Git repository." }), this.#again());
      return;
    }
    const head = make(
      "p",
      { class: "changes-head" },
      icon("branch"),
      make("code", { text: branch ?? "no branch" }),
      make("span", { text: files.length === 0 ? "no changes" : `${plural(files.length, "file")}${truncated ? " and more" : ""}` }),
      this.#again(),
    );
    const note = message ? make("p", { class: "field-hint", text: message }) : null;
    const rows = files.map((file) => this.#row(file));
    this.#body.replaceChildren(head, note ?? "", make("ul", { class: "changes-list" }, ...rows));
    for (const row of rows) if (this.#open.has(row.dataset.path)) this.#toggle(row, true);
  }

  #row({ path, status, added, removed }) {
    const button = make(
      "button",
      { type: "button", class: "changes-file quiet-button", "aria-expanded": "false" },
      make("span", { class: `changes-status status-${status}`, title: status, "aria-label": status, text: STATUS[status] ?? "?" }),
      make("span", { class: "changes-path path", title: path, text: path }),
      make("span", { class: "changes-added", text: added ? `+${added}` : "" }),
      make("span", { class: "changes-removed", text: removed ? `−${removed}` : "" }),
    );
    const row = make("li", { data: { path } }, button, make("div", { class: "changes-diff rendered-content", hidden: true }));
    button.addEventListener("click", () => this.#toggle(row, button.getAttribute("aria-expanded") !== "true"));
    return row;
  }

  async #toggle(row, open) {
    const { path } = row.dataset;
    const [button, diff] = row.children;
    button.setAttribute("aria-expanded", String(open));
    diff.hidden = !open;
    if (open) this.#open.add(path);
    else this.#open.delete(path);
    if (!open || diff.hasChildNodes()) return;
    diff.replaceChildren(make("p", { class: "empty", text: "Loading …" }));
    try {
      const query = new URLSearchParams({ path });
      const { html, truncated } = await ask(sessionPath(this.#view.sessionId, `changes/file?${query}`), { signal: this.#closed.signal });
      diff.replaceChildren(parseRendered(html), truncated ? make("p", { class: "field-hint", text: "Only the beginning of the diff is shown." }) : "");
      diff.onclick = (event) => onRenderedClick(event, () => {});
    } catch (problem) {
      if (this.#closed.signal.aborted) return;
      diff.replaceChildren(make("p", { class: "field-problem", role: "alert", text: problem.message }));
    }
  }
}
