// The inbox: every open session and running job, those that need input first, with what they ask and the answers.

import { byId, make } from "../lib/dom.js";
import { jobAddress, jobInAddress, sessionAddress, sessionInAddress } from "../lib/address.js";
import { needsPerson, waitingThings } from "../lib/attention.js";
import { exactElement } from "../lib/exactText.js";
import { inbox } from "../lib/inboxStream.js";
import { jobStateElement } from "../lib/jobs.js";
import { relativeTime } from "../lib/relativeTime.js";
import { holdMovedCards } from "../session/openCards.js";
import { arrange } from "../sidebar/arrange.js";
import { SidePanel } from "./sidePanel.js";
import { stateElement } from "../lib/states.js";
import { JobCards, SessionCards } from "./inboxCards.js";

const ORDER = ["recovering", "working", "starting", "ready"];
const KINDS = { permission: "Permission", question: "Question", gate: "Gate", interrupted: "Interrupted" };
/** Messages that come together are one change: a new connection repeats everything. */
const TOGETHER = 40;

/** The panel; `openRequests` are its cards that can be answered, while it is open. */
export function useInbox() {
  const button = byId("inbox-button");
  const counter = byId("inbox-count");
  inbox.addEventListener("change", () => {
    const waiting = inbox.pendingCount;
    counter.textContent = String(waiting);
    counter.hidden = waiting === 0;
    button.title = `${waiting > 0 ? `${waiting} need your input` : "What needs your input"} (Alt+I)`;
  });
  let view = null;
  const panel = new SidePanel({
    title: "Inbox",
    button,
    build: (body) => {
      view = new InboxView(body);
      return () => {
        view.end();
        view = null;
      };
    },
  });
  Object.defineProperty(panel, "openRequests", { get: () => view?.openRequests ?? [] });
  return panel;
}

class InboxView {
  #body;
  #entries = new Map();
  #needs = make("ul", { class: "inbox-list" });
  #jobs = make("ul", { class: "inbox-list" });
  #open = make("ul", { class: "inbox-list" });
  #groups = [
    [group("Needs your input", this.#needs), this.#needs],
    [group("Jobs", this.#jobs), this.#jobs],
    [group("Open", this.#open), this.#open],
  ];
  #empty = make("p", { class: "empty", text: "No open sessions. Requests from any session or job appear here." });
  #scheduled = null;
  #heard = () => {
    this.#scheduled ??= setTimeout(() => {
      this.#scheduled = null;
      this.#show();
    }, TOGETHER);
  };
  /** A session that was deleted has nothing more to say; one that is only missing may come back with the connection. */
  #deleted = ({ detail: { entry } }) => entry.state === null && this.#entries.delete(entry.sessionId);
  #observer = new ResizeObserver(() => holdMovedCards(this.#needs));

  constructor(body) {
    this.#body = body;
    this.#observer.observe(this.#needs);
    inbox.addEventListener("entry", this.#deleted);
    inbox.addEventListener("change", this.#heard);
    this.#show();
  }

  get openRequests() {
    return [...this.#needs.children].flatMap((element) => [...this.#entries.values()].find((entry) => entry.element === element)?.cards.open ?? []);
  }

  end() {
    inbox.removeEventListener("entry", this.#deleted);
    inbox.removeEventListener("change", this.#heard);
    clearTimeout(this.#scheduled);
    this.#observer.disconnect();
  }

  #show() {
    const sessions = [...inbox.entries.values()].filter(({ state, pending }) => state !== "closed" || pending.length > 0);
    const jobs = [...inbox.jobs.values()].filter(({ status, waiting }) => status === "Running" || waiting.length > 0);
    const wanted = new Map([...sessions.map((one) => [one.sessionId, one]), ...jobs.map((one) => [one.jobId, one])]);
    for (const [id, entry] of this.#entries) if (!wanted.has(id) && !entry.hasCards) this.#entries.delete(id);
    for (const one of sessions) this.#entryOf(one.sessionId, () => new SessionEntry(one.sessionId, this.#heard)).show(one);
    for (const one of jobs) this.#entryOf(one.jobId, () => new JobEntry(one.jobId, one.jobName)).show(one);
    // What ended while it was shown keeps its cards; they say how they were answered.
    for (const [id, entry] of this.#entries) if (!wanted.has(id)) entry.show(null);
    const order = waitingThings().map(({ id }) => id);
    const stays = ({ id, needs, hasCards }) => needs || (hasCards && this.#needs.contains(this.#entries.get(id)?.element ?? null));
    const all = [...this.#entries].map(([id, entry]) => ({ id, entry, ...entry.facts, hasCards: entry.hasCards }));
    const needing = all.filter(stays);
    // Those that are there keep their places, so that no card moves under the pointer; new ones follow, the longest wait first.
    const place = ({ entry, id }) => {
      const at = [...this.#needs.children].indexOf(entry.element);
      return at >= 0 ? at : 1_000_000 + order.indexOf(id);
    };
    arrange(this.#needs, needing.toSorted((one, other) => place(one) - place(other)).map(({ entry }) => entry.element));
    const rest = all.filter((one) => !needing.includes(one));
    arrange(this.#jobs, rest.filter(({ kind }) => kind === "job").map(({ entry }) => entry.element));
    const byState = (one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || number(other.id) - number(one.id);
    arrange(this.#open, rest.filter(({ kind }) => kind === "session").toSorted(byState).map(({ entry }) => entry.element));
    arrange(this.#body, all.length === 0 ? [this.#empty] : this.#groups.filter(([, list]) => list.hasChildNodes()).map(([section]) => section));
  }

  #entryOf(id, create) {
    if (!this.#entries.has(id)) this.#entries.set(id, create());
    return this.#entries.get(id);
  }
}

/** A session: a line that leads to it, and the cards of what it asks. */
class SessionEntry {
  cards;
  element;
  facts = { kind: "session", state: "ready", needs: false };
  #link = make("a", { class: "inbox-entry", data: { local: "" } });
  #shown = "";

  /** `changed` is called when a card appears or goes. */
  constructor(sessionId, changed) {
    this.cards = new SessionCards(sessionId);
    this.cards.onChange = () => {
      this.#showHeadlines();
      changed();
    };
    this.#link.href = sessionAddress(sessionId);
    this.element = make("li", {}, this.#link, this.cards.element);
  }

  /** Open, or answered since the inbox was opened. */
  get hasCards() {
    return this.cards.size > 0;
  }

  /** `entry` is null when the session is closed or gone. */
  show(entry) {
    this.cards.show(entry);
    this.facts = entry ? { kind: "session", state: entry.state, needs: needsPerson(entry) } : { ...this.facts, needs: false };
    if (!entry) return;
    const { sessionId, title, state, detail, pending, failed } = entry;
    const key = JSON.stringify([title, state, detail, pending, failed, sessionId === sessionInAddress()]);
    if (key === this.#shown) return;
    this.#shown = key;
    if (sessionId === sessionInAddress()) this.#link.setAttribute("aria-current", "page");
    else this.#link.removeAttribute("aria-current");
    this.#link.replaceChildren(
      make("span", { class: "inbox-line" }, exactElement("bdi", { class: "inbox-title" }, title || sessionId, { oneLine: true }), stateElement(state, detail, { failed })),
      ...pending.map(({ requestId, kind, headline, askedAt }) => headlineElement(kind, headline, askedAt, requestId)),
    );
    this.#showHeadlines();
  }

  /** A card says more than its headline. */
  #showHeadlines() {
    for (const line of this.#link.querySelectorAll(".inbox-request")) line.hidden = this.cards.has(line.dataset.request);
  }
}

/** A job: a line that leads to it, and the cards of its gates. */
class JobEntry {
  cards;
  element;
  facts = { kind: "job", state: null, needs: false };
  #link = make("a", { class: "inbox-entry inbox-job" });
  #shown = "";

  constructor(jobId, jobName) {
    this.cards = new JobCards(jobId);
    this.cards.onChange = () => this.#showHeadlines();
    this.#link.href = jobAddress({ jobId, jobName });
    this.element = make("li", {}, this.#link, this.cards.element);
  }

  get hasCards() {
    return false;
  }

  show(job) {
    this.cards.show(job);
    this.facts = { ...this.facts, needs: (job?.waiting.length ?? 0) > 0 };
    if (!job) return;
    const { jobId, jobName, status, waiting } = job;
    const isHere = jobInAddress().jobId === jobId;
    const key = JSON.stringify([jobName, status, waiting, isHere]);
    if (key === this.#shown) return;
    this.#shown = key;
    if (isHere) this.#link.setAttribute("aria-current", "page");
    this.#link.replaceChildren(
      make("span", { class: "inbox-line" }, exactElement("bdi", { class: "inbox-title" }, jobName || jobId, { oneLine: true }), jobStateElement(waiting.length > 0 ? "Waiting" : status)),
      ...waiting.map(({ waitingId, kind, title, since }) => headlineElement(kind, title, since, waitingId)),
      make("span", { class: "inbox-open", text: "Open job" }),
    );
    this.#showHeadlines();
  }

  #showHeadlines() {
    for (const line of this.#link.querySelectorAll(".inbox-request")) line.hidden = this.cards.has(line.dataset.request);
  }
}

function group(title, list) {
  return make("section", { class: "inbox-group" }, make("h3", { text: title }), list);
}

function number(id) {
  return Number(id.replace(/\D/g, ""));
}

function headlineElement(kind, headline, askedAt, requestId) {
  return make(
    "span",
    { class: "inbox-request", data: { request: requestId } },
    make("span", { class: "inbox-kind", text: KINDS[kind] ?? kind }),
    askedAt ? make("span", { class: "inbox-age" }, " ", relativeTime(askedAt)) : null,
    " ",
    exactElement("bdi", { class: "inbox-headline" }, headline, { oneLine: true }),
  );
}
