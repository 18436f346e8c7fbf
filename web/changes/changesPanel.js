// What has changed in the session's working directory: since the last commit, in the session or in a turn. Files and hunks can
// be reverted, and a revert can be undone.

import { announce } from "../lib/announcer.js";
import { ask, sessionPath } from "../lib/api.js";
import { openChannel } from "../lib/channel.js";
import { copyFromButton } from "../lib/clipboard.js";
import { byId, make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { exactTime, plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { inbox } from "../lib/inboxStream.js";
import { relativeTime } from "../lib/relativeTime.js";
import { SidePanel } from "../panels/sidePanel.js";
import { useChangeKeys } from "./changeKeys.js";
import { FileRow } from "./fileRow.js";
import { confirmRevert } from "./revert.js";
import { ScopeChoice } from "./scopeChoice.js";
import { ViewChoice } from "./viewChoice.js";

/** Opening more files than this at once would only slow the page down. */
const MOST_OPENED = 200;
/** Reverts that are listed at first. */
const FEW_REVERTS = 3;

/** The panel for the session that `current()` returns. */
export function useChanges(current) {
  return new ChangesPanel(current);
}

class ChangesPanel extends SidePanel {
  /** The turn that it is being opened for. */
  #turn = null;

  constructor(current) {
    super({ title: "Changes", button: byId("changes-button"), wide: true, build: (body) => new Changes(body, current(), this.#turn).start() });
  }

  /** Opens it with what one turn changed; the focus then returns to `opener`. */
  openTurn(turn, opener = null) {
    this.#turn = turn;
    this.open({ opener });
    this.#turn = null;
  }
}

class Changes {
  #body;
  #session;
  #closed = new AbortController();
  #scope;
  #view = new ViewChoice(this.#closed.signal);
  /** Other tabs that show the same session; null without channels. */
  #tabs = openChannel("flightdeck.changes");
  #rows = new Map();
  #query = {};
  #loads = 0;
  #showsAllReverts = false;

  #summary = make("span", { class: "changes-summary" });
  #head = make("div", { class: "changes-head" });
  #message = make("p", { class: "empty changes-message", hidden: true });
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });
  #shared = make("p", { class: "field-hint changes-shared", hidden: true });
  #leftOut = make("p", { class: "field-hint changes-left-out", role: "status", hidden: true });
  #reverts = make("ul", { class: "changes-reverts", "aria-label": "Reverted", hidden: true });
  #list = make("ul", { class: "changes-list" });
  #all;
  #copy;
  #sideBySide;

  constructor(body, session, turn) {
    this.#scope = new ScopeChoice(turn);
    this.#body = body;
    this.#session = session;
  }

  /** Shows everything; returns what to call when the panel is closed. */
  start() {
    this.#buildHead();
    this.#body.classList.add("changes-panel");
    this.#body.replaceChildren(this.#scope.element, this.#head, this.#problem, this.#shared, this.#leftOut, this.#reverts, this.#message, this.#list);
    const { signal } = this.#closed;
    useChangeKeys(byId("side-panel"), { rows: () => [...this.#rows.values()], toggleAll: () => this.#toggleAll(), signal });
    this.#scope.addEventListener("change", () => this.#reset());
    this.#view.addEventListener("change", () => this.#showView());
    this.#tabs?.addEventListener("message", ({ data }) => data === this.#session.sessionId && this.#load());
    // The files have probably changed at the end of a turn.
    let state = this.#session.details?.state;
    this.#session.addEventListener(
      "change",
      () => {
        const now = this.#session.details?.state;
        if (state !== now && now === "ready") this.#load();
        state = now;
      },
      { signal },
    );
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#load(), { signal });
    // What is listed may be older than what the server did before it was gone. A closed session is not followed.
    this.#session.addEventListener("connected", () => this.#load(), { signal });
    let wasLost = inbox.isConnected === false;
    inbox.addEventListener(
      "connection",
      () => {
        if (wasLost && inbox.isConnected) this.#load();
        wasLost = inbox.isConnected === false;
      },
      { signal },
    );
    this.#showView();
    this.#say("Loading changes …");
    this.#load();
    return () => {
      this.#closed.abort();
      this.#tabs?.close();
      byId("side-panel").classList.remove("side-by-side-panel");
    };
  }

  #buildHead() {
    const button = (text, title, run) => make("button", { type: "button", class: "quiet-button", title, text, on: { click: run } });
    this.#sideBySide = make("button", { type: "button", class: "quiet-button", "aria-pressed": "false", text: "Side by side", on: { click: () => this.#view.choose(!this.#view.isSideBySide) } });
    this.#all = button("Expand all", "Expand or collapse all files (e)", () => this.#toggleAll());
    this.#copy = button("Copy patch", "Copy all changes as a patch for git apply", ({ currentTarget }) => this.copyPatch(currentTarget, null));
    const refresh = button("Refresh", "Reload the changes", () => this.#load());
    this.#head.append(this.#summary, make("span", { class: "changes-actions" }, this.#sideBySide, this.#all, this.#copy, refresh));
  }

  // What a row needs to know.

  get sessionId() {
    return this.#session.sessionId;
  }

  get query() {
    return this.#query;
  }

  get view() {
    return this.#view;
  }

  get signal() {
    return this.#closed.signal;
  }

  /** A row was opened or closed. */
  opened() {
    const rows = [...this.#rows.values()];
    this.#all.textContent = rows.length > 0 && hasAllOpen(rows) ? "Collapse all" : "Expand all";
  }

  async copyPatch(button, path) {
    try {
      const query = new URLSearchParams({ ...this.#query, ...(path === null ? {} : { path }) });
      const { patch, leftOut } = await ask(sessionPath(this.sessionId, `changes/patch?${query}`), { signal: this.signal });
      if (patch) await copyFromButton(button, patch);
      const names = leftOut.map(({ path: name, reason }) => `${exactString(name)} (${reason})`);
      this.#tell(this.#leftOut, names.length > 0 ? `Not in the patch: ${names.join(", ")}.` : "");
      this.#tell(this.#problem, "");
    } catch (problem) {
      if (!this.signal.aborted) this.#tell(this.#problem, `Could not copy the patch: ${problem.message}`);
    }
  }

  async revert(row, hunk) {
    const { path } = row.file;
    const { state } = row.diff;
    const isWorking = ["working", "waiting"].includes(this.#session.details?.state);
    if (!(await confirmRevert({ row, hunk, words: this.#scope.words, isWorking }))) return;
    const json = { ...this.#scope.query, path, state, ...(hunk === null ? {} : { hunk }) };
    await this.#change(sessionPath(this.sessionId, "changes/revert"), json, { failed: `Could not revert ${exactString(path)}`, unknown: `${exactString(path)} may or may not have been reverted` });
    if (this.#problem.hidden) announce(`Reverted ${exactString(path)}. You can undo this.`);
    this.#focusNear(path);
  }

  async #undo({ revert, path }) {
    await this.#change(sessionPath(this.sessionId, "changes/undo"), { revert }, { failed: `Could not undo the revert of ${exactString(path)}`, unknown: `The revert of ${exactString(path)} may or may not have been undone` });
    if (this.#problem.hidden) announce(`Undone: ${exactString(path)} is back to its state before the revert.`);
    this.#focusNear(path);
  }

  /** Changes files on the server, and shows what is there then. `failed` and `unknown` say what that means for the person. */
  async #change(address, json, { failed, unknown }) {
    try {
      await ask(address, { json });
      this.#tabs?.postMessage(this.sessionId);
      this.#tell(this.#problem, "");
    } catch (problem) {
      if (this.signal.aborted) return;
      this.#tell(this.#problem, changeProblem(problem, failed, unknown));
    }
    await this.#load({ keepProblem: true });
  }

  /** What had the focus may be gone; the panel's keys work only inside it. */
  #focusNear(path) {
    const isElsewhere = document.activeElement !== this.#body && document.activeElement !== document.body;
    if (this.signal.aborted || isElsewhere) return;
    (this.#rows.get(path)?.button ?? this.#reverts.querySelector("button") ?? this.#body).focus({ preventScroll: true });
  }

  /** Another scope: other files. */
  #reset() {
    this.#rows.clear();
    this.#list.replaceChildren();
    this.#say("Loading changes …");
    this.#load();
  }

  async #load({ keepProblem = false } = {}) {
    this.#loads += 1;
    const load = this.#loads;
    const scope = this.#scope.query ?? { scope: "session" };
    try {
      const answer = await ask(sessionPath(this.sessionId, `changes?${new URLSearchParams(scope)}`), { signal: this.signal });
      // Only the newest answer counts.
      if (load !== this.#loads) return;
      const hadTurn = this.#scope.query !== null;
      this.#scope.setTurns(answer.turns);
      if (!hadTurn && this.#scope.query) return void this.#load({ keepProblem });
      if (!keepProblem) this.#tell(this.#problem, "");
      this.#query = { ...scope, ...(answer.view ? { view: answer.view } : {}) };
      this.#show(answer, hadTurn);
    } catch (problem) {
      if (this.signal.aborted || load !== this.#loads) return;
      if (!keepProblem || this.#problem.hidden) this.#tell(this.#problem, `Could not load the changes: ${problem.message}`);
      if (this.#rows.size === 0) this.#say("");
    }
  }

  #show(answer, hasScope) {
    const { repository, truncated, message, sharedWith, reverted } = answer;
    const files = hasScope && repository ? answer.files : [];
    const hadFocus = byId("side-panel").contains(document.activeElement);
    this.#showSummary(answer, files);
    this.#showReverts(reverted);
    const names = sharedWith.map(({ sessionId, title }) => exactString(title ?? sessionId));
    this.#tell(this.#shared, files.length > 0 && names.length > 0 ? `${names.map((name) => `“${name}”`).join(", ")} also worked in this folder. Those changes are listed here too.` : "");
    const rows = files.map((file) => {
      const known = this.#rows.get(file.path);
      known?.update(file);
      return known ?? new FileRow(this, file);
    });
    this.#rows = new Map(rows.map((row) => [row.file.path, row]));
    this.#place(rows.map((row) => row.element));
    const nothing = files.length > 0 ? "" : (message ?? this.#nothing(repository, hasScope));
    this.#say(files.length > 0 && (message || truncated) ? [message, truncated ? `Only the first ${plural(files.length, "file")} are listed.` : ""].filter(Boolean).join(" ") : nothing);
    this.#copy.disabled = files.length === 0 || !answer.view;
    this.#all.disabled = files.length === 0;
    this.opened();
    if (hadFocus && !byId("side-panel").contains(document.activeElement)) this.#body.focus({ preventScroll: true });
  }

  #nothing(repository, hasScope) {
    if (!hasScope) return "No turn has begun in this session yet.";
    if (!repository) return "The working directory is not in a Git repository.";
    return `No changes ${this.#scope.words}.`;
  }

  /** Moves nothing that is in its place already, so that the focus stays. */
  #place(elements) {
    elements.forEach((element, index) => {
      if (this.#list.children[index] !== element) this.#list.insertBefore(element, this.#list.children[index] ?? null);
    });
    while (this.#list.children.length > elements.length) this.#list.lastChild.remove();
  }

  #showSummary({ repository, branch, truncated, since, until }, files) {
    if (!repository) {
      this.#summary.replaceChildren();
      return;
    }
    const sum = (key) => files.reduce((total, file) => total + (file[key] ?? 0), 0);
    const times = since ? make("span", { class: "changes-since", }, until ? null : "since ", relativeTime(since, { title: until ? `${exactTime(since)} – ${exactTime(until)}` : `Since ${exactTime(since)}` })) : null;
    this.#summary.replaceChildren(
      make("span", { class: "changes-branch" }, icon("branch"), make("code", { text: branch ?? "no branch" })),
      make("span", { text: files.length === 0 ? "no changes" : `${plural(files.length, "file")}${truncated ? " and more" : ""}` }),
      ...(files.length > 0 ? [make("span", { class: "changes-added", text: `+${sum("added").toLocaleString("en")}` }), make("span", { class: "changes-removed", text: `−${sum("removed").toLocaleString("en")}` })] : []),
      ...(times ? [times] : []),
    );
  }

  #showReverts(reverted) {
    const shown = this.#showsAllReverts ? reverted : reverted.slice(0, FEW_REVERTS);
    const entry = (revert) => {
      const { path, hunk, revertedAt } = revert;
      const what = hunk === undefined ? "Reverted " : `Reverted hunk ${hunk + 1} of `;
      const undo = make("button", { type: "button", class: "link-button", text: "Undo", "aria-label": `Undo the revert of ${exactString(path)}`, on: { click: () => this.#undo(revert) } });
      return make("li", { data: { revert: revert.revert } }, make("span", { class: "changes-reverted" }, what, make("code", { text: exactString(path) })), relativeTime(revertedAt), undo);
    };
    const more = () => {
      this.#showsAllReverts = true;
      this.#showReverts(reverted);
    };
    const rest = reverted.length - shown.length;
    const all = rest > 0 ? [make("li", {}, make("button", { type: "button", class: "link-button", text: `Show ${plural(rest, "earlier revert")}`, on: { click: more } }))] : [];
    this.#reverts.replaceChildren(...shown.map(entry), ...all);
    this.#reverts.hidden = reverted.length === 0;
  }

  #toggleAll() {
    const rows = [...this.#rows.values()];
    const open = !hasAllOpen(rows);
    for (const row of open ? rows.slice(0, MOST_OPENED) : rows) if (row.isOpen !== open) row.setOpen(open);
  }

  #showView() {
    const { isSideBySide, canBeSideBySide } = this.#view;
    this.#sideBySide.hidden = !canBeSideBySide;
    this.#sideBySide.setAttribute("aria-pressed", String(isSideBySide));
    byId("side-panel").classList.toggle("side-by-side-panel", isSideBySide);
    for (const row of this.#rows.values()) row.showView();
  }

  #say(text) {
    this.#tell(this.#message, text);
  }

  #tell(element, text) {
    element.textContent = text;
    element.hidden = !text;
  }
}

function changeProblem(problem, failed, unknown) {
  if (problem.isUnreachable) return `${unknown}: ${problem.message} The list is reloaded when the connection is back.`;
  // This message names the file itself.
  return problem.code === "NotRevertible" ? problem.message : `${failed}: ${problem.message}`;
}

/** Whether all files are open that may be opened together. */
function hasAllOpen(rows) {
  return rows.slice(0, MOST_OPENED).every((row) => row.isOpen);
}
