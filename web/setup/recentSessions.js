// The list of sessions: state, search, reopen, rename, delete. Below it stands what was found in their texts.

import { ask, sessionPath } from "../lib/api.js";
import { goTo, jobAddress, sessionAddress } from "../lib/address.js";
import { announce } from "../lib/announcer.js";
import { askForText, confirmAction } from "../lib/dialog.js";
import { byId, make } from "../lib/dom.js";
import { exactElement, exactNodes, exactString } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { pathCell } from "./pathCell.js";
import { relativeTime } from "../lib/relativeTime.js";
import { sessionList } from "../lib/sessionList.js";
import { arrange } from "../sidebar/arrange.js";
import { isJobStep, stateElement } from "../lib/states.js";
import { TextSearch } from "./textSearch.js";

/** Steps of jobs are shown with their jobs. Here they are among what is searched, and in a list of their own. */
const STEPS = "steps";

const FILTERS = [
  ["all", "All", () => true],
  ["open", "Open", ({ state }) => state !== "closed"],
  ["waiting", "Waiting", ({ state, pending }) => state === "waiting" || state === "needs-login" || pending > 0],
  ["closed", "Closed", ({ state }) => state === "closed"],
  [STEPS, "Job steps", isJobStep],
];

const place = byId("session-list");
const search = byId("session-search");

export class RecentSessions {
  #filter = "all";
  #problem = null;
  #isLoadingAll = false;
  /** Whether something in the list is being pressed: what is replaced before the release gets no click. */
  #isPressed = false;
  #order = [];
  #list = make("ul", { class: "session-rows" });
  /** What the list shows: session → `{ key, updatedAt, time, element }`. */
  #rows = new Map();
  #empty = make("p", { class: "empty" });
  #older = make("button", { type: "button", class: "quiet-button", text: "Show older sessions", on: { click: () => sessionList.loadMore().catch((problem) => this.#say(problem)) } });
  #texts = new TextSearch(byId("search-results"));

  constructor() {
    byId("session-filters").append(...FILTERS.map(([name, label]) => this.#filterButton(name, label)));
    search.addEventListener("input", () => this.#searched());
    sessionList.addEventListener("change", () => {
      this.#show();
      // A reloaded list has only its first page.
      if (!sessionList.problem) this.#loadAll();
    });
    place.addEventListener("pointerdown", ({ button }) => {
      this.#isPressed = button === 0;
    });
    // The click follows the release.
    for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => this.#isPressed && setTimeout(() => this.#released()));
    place.addEventListener("pointerleave", () => this.#released());
  }

  async load() {
    if (!sessionList.isLoaded) place.replaceChildren(make("p", { class: "empty", text: "Loading …" }));
    await sessionList.load().catch(() => {});
  }

  #filterButton(name, label) {
    const button = make("button", { type: "button", class: "filter-button", text: label, hidden: name === STEPS, "aria-pressed": String(name === this.#filter), data: { filter: name } });
    button.addEventListener("click", () => {
      this.#filter = name;
      for (const other of byId("session-filters").children) other.setAttribute("aria-pressed", String(other === button));
      this.#texts.fits = (sessionId) => this.#fits(sessionId);
      this.#show();
    });
    return button;
  }

  #searched() {
    this.#texts.search(search.value);
    this.#show();
    this.#loadAll();
  }

  /** Searching means all sessions, not only those that are loaded. What fails is said by the list; the next letter tries again. */
  async #loadAll() {
    if (this.#isLoadingAll) return;
    this.#isLoadingAll = true;
    try {
      while (search.value.trim() && sessionList.hasMore) await sessionList.loadMore();
    } catch {
      // The list shows it.
    }
    this.#isLoadingAll = false;
  }

  #released() {
    this.#isPressed = false;
    if (sessionList.isLoaded) this.#show();
  }

  #show() {
    if (this.#isPressed) return;
    if (sessionList.problem) {
      place.replaceChildren(make("p", { class: "field-problem", role: "alert", text: `Could not load sessions: ${sessionList.problem.message}` }));
      return;
    }
    const words = search.value.toLowerCase().replaceAll(/["*]/g, " ").split(/\s+/).filter(Boolean);
    const shown = this.#inOrder(sessionList.sessions).filter((session) => this.#isChosen(session) && words.every((word) => hasWord(session, word)));
    const focused = document.activeElement?.closest?.(".session-row")?.dataset.session;
    const focusedAction = document.activeElement?.dataset?.action;
    const steps = sessionList.sessions.filter(isJobStep).length;
    byId("session-filters").querySelector(`[data-filter="${STEPS}"]`).hidden = steps === 0 && this.#filter !== STEPS;
    const rows = shown.map((session) => this.#rowOf(session));
    this.#forgetRows();
    arrange(this.#list, rows);
    if (shown.length === 0) this.#empty.textContent = emptyText(sessionList.sessions.length - steps, words.length > 0);
    const hasOlder = sessionList.hasMore && words.length === 0;
    arrange(place, [shown.length > 0 ? this.#list : this.#empty, this.#problem, hasOlder && this.#older].filter(Boolean));
    if (focused && !place.contains(document.activeElement)) {
      const row = this.#rows.get(focused)?.element;
      (row?.querySelector(focusedAction ? `[data-action="${focusedAction}"]` : "a") ?? row?.querySelector("a"))?.focus({ preventScroll: true });
    }
  }

  /** The row of a session. One that says the same is left alone, apart from its time. */
  #rowOf(session) {
    const { updatedAt, ...rest } = session;
    const key = JSON.stringify(rest);
    let row = this.#rows.get(session.sessionId);
    if (row?.key !== key) {
      const time = timeOf(session);
      row = { key, updatedAt, time, element: this.#row(session, time) };
      this.#rows.set(session.sessionId, row);
    } else if (row.updatedAt !== updatedAt) {
      const time = timeOf(session);
      row.time.replaceWith(time);
      Object.assign(row, { updatedAt, time });
    }
    return row.element;
  }

  #forgetRows() {
    const known = new Set(sessionList.sessions.map(({ sessionId }) => sessionId));
    for (const sessionId of this.#rows.keys()) if (!known.has(sessionId)) this.#rows.delete(sessionId);
  }

  /**
   * What needs the person first, then what works, then the newest. While somebody points at a row or has the focus in one,
   * no row moves; new ones are added at the top.
   */
  #inOrder(sessions) {
    const isUsed = place.matches(":hover") || place.contains(document.activeElement);
    const before = new Map(isUsed ? this.#order.map((id, position) => [id, position]) : []);
    const position = ({ sessionId }) => before.get(sessionId) ?? -1;
    const ordered = sessions.toSorted((one, other) => position(one) - position(other) || urgency(one) - urgency(other) || String(other.updatedAt).localeCompare(String(one.updatedAt)));
    this.#order = ordered.map(({ sessionId }) => sessionId);
    return ordered;
  }

  /** Whether a session is in one of the states that are chosen. One that is not loaded is only among all. */
  #fits(sessionId) {
    const session = sessionList.sessions.find((one) => one.sessionId === sessionId);
    return session ? this.#isChosen(session) : this.#filter === "all";
  }

  #isChosen(session) {
    const isHidden = this.#filter !== STEPS && search.value.trim() === "" && isJobStep(session);
    return !isHidden && FILTERS.find(([name]) => name === this.#filter)[2](session);
  }

  #row(session, time) {
    const { sessionId, title, state, model, workingDirectory, pending, job, unread, failed } = session;
    const action = (name, label, run) =>
      make("button", { type: "button", class: "quiet-button icon-button", "aria-label": exactString(`${label} ${title || sessionId}`), title: label, data: { action: name }, on: { click: run } }, icon(name));
    const actions = [action("edit", "Rename", () => this.#rename(session))];
    if (state === "closed") actions.unshift(action("reopen", "Reopen", () => this.#reopen(session)));
    actions.push(action("trash", "Delete", () => this.#delete(session)));
    return make(
      "li",
      { class: `session-row${unread ? " unread" : ""}`, data: { session: sessionId, state } },
      stateElement(state, pending > 0 ? plural(pending, "request") : null, { failed }),
      make(
        "span",
        { class: "session-name" },
        make("a", { class: "session-link", href: sessionAddress(sessionId), data: { local: "" }, title: exactString(`${title || sessionId} (${sessionId})`) }, make("bdi", {}, ...exactNodes(title || sessionId, { oneLine: true })), unread ? make("span", { class: "visually-hidden", text: " (unread)" }) : null),
        job && make("a", { class: "session-job", href: jobAddress(job), title: exactString(`Task ${job.taskName} of the job ${job.jobName} (${job.jobId})`), text: `Job ${exactString(job.jobName)}` }),
      ),
      exactElement("span", { class: "session-model", title: model && exactString(model) }, model, { oneLine: true }),
      pathCell(workingDirectory),
      time,
      make("span", { class: "session-actions" }, ...actions),
    );
  }

  async #rename({ sessionId, title }) {
    const name = await askForText({ title: "Rename the session", label: "Title", value: title ?? "", action: "Rename" });
    if (name === null || !name.trim() || name === title) return;
    await this.#try(async () => {
      await ask(sessionPath(sessionId), { method: "PATCH", json: { title: name.trim() } });
      sessionList.change(sessionId, { title: name.trim() });
    });
  }

  async #reopen({ sessionId }) {
    await this.#try(async () => {
      await ask(sessionPath(sessionId, "reopen"), { method: "POST" });
      goTo(sessionAddress(sessionId));
    });
  }

  async #delete({ sessionId, title, state }) {
    const sure = await confirmAction({
      title: exactString(`Delete “${title || sessionId}”?`),
      text: `${state === "closed" ? "" : "The session is stopped first. "}Its history is deleted from this machine. This can't be undone.`,
      action: "Delete",
    });
    if (!sure) return;
    await this.#try(async () => {
      await ask(sessionPath(sessionId), { method: "DELETE" });
      sessionList.remove(sessionId);
      announce("Deleted");
    });
  }

  async #try(action) {
    try {
      this.#problem = null;
      await action();
    } catch (problem) {
      this.#say(problem);
    }
  }

  #say(problem) {
    this.#problem = make("p", { class: "field-problem", role: "alert", text: problem.message });
    this.#show();
  }
}

function timeOf({ updatedAt }) {
  return relativeTime(updatedAt, { className: "session-time" });
}

function textOf({ sessionId, title, model, workingDirectory, runtime, state, job }) {
  return [sessionId, title, model, workingDirectory, runtime, state, job?.jobName, job?.taskName].join(" ").toLowerCase();
}

/** 0 for what needs the person, 1 for what works, 2 for the rest. */
function urgency({ state, pending }) {
  if (state === "waiting" || state === "needs-login" || pending > 0) return 0;
  return state === "working" || state === "recovering" || state === "starting" ? 1 : 2;
}

/** A word with a minus must not be there. */
function hasWord(session, word) {
  const isExcluded = word.length > 1 && word.startsWith("-");
  return textOf(session).includes(isExcluded ? word.slice(1) : word) !== isExcluded;
}

function emptyText(known, searching) {
  if (known === 0) return "No sessions yet. Describe a task above and press Start.";
  return searching ? "No matching sessions." : "No sessions in this state.";
}
