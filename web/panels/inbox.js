// The inbox: every open session and running job, those that need input first.

import { byId, make } from "../lib/dom.js";
import { jobAddress, jobInAddress, sessionAddress, sessionInAddress } from "../lib/address.js";
import { exactElement } from "../lib/exactText.js";
import { ago, exactTime } from "../lib/format.js";
import { inbox } from "../lib/inboxStream.js";
import { jobStateElement } from "../lib/jobs.js";
import { SidePanel } from "./sidePanel.js";
import { stateElement } from "../lib/states.js";

const ORDER = ["waiting", "needs-login", "failed", "recovering", "working", "starting", "ready"];
const KINDS = { permission: "Permission", question: "Question", gate: "Gate", interrupted: "Interrupted" };

export function useInbox() {
  const button = byId("inbox-button");
  const counter = byId("inbox-count");
  inbox.addEventListener("change", () => {
    const waiting = inbox.pendingCount;
    counter.textContent = String(waiting);
    counter.hidden = waiting === 0;
    button.title = `${waiting > 0 ? `${waiting} need your input` : "What needs your input"} (Alt+I)`;
  });
  return new SidePanel({ title: "Inbox", button, build });
}

function build(body) {
  const show = () => {
    const open = [...inbox.entries.values()].filter(({ state }) => state !== "closed");
    open.sort((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || number(other) - number(one));
    const jobs = [...inbox.jobs.values()].filter(({ status, waiting }) => status === "Running" || waiting.length > 0);
    if (open.length + jobs.length === 0) {
      body.replaceChildren(make("p", { class: "empty", text: "No open sessions. Requests from any session or job appear here." }));
      return;
    }
    const groups = [
      ["Needs your input", [...jobs.filter(({ waiting }) => waiting.length > 0).map(jobRow), ...open.filter(({ pending, state }) => pending.length > 0 || ORDER.indexOf(state) < 3).map(row)]],
      ["Jobs", jobs.filter(({ waiting }) => waiting.length === 0).map(jobRow)],
      ["Open", open.filter(({ pending, state }) => pending.length === 0 && ORDER.indexOf(state) >= 3).map(row)],
    ].filter(([, rows]) => rows.length > 0);
    body.replaceChildren(
      ...groups.map(([title, rows]) => make("section", { class: "inbox-group" }, make("h3", { text: title }), make("ul", { class: "inbox-list" }, ...rows))),
    );
  };
  show();
  inbox.addEventListener("change", show);
  return () => inbox.removeEventListener("change", show);
}

function number({ sessionId }) {
  return Number(sessionId.replace(/\D/g, ""));
}

function row({ sessionId, title, state, detail, pending }) {
  const requests = pending.map(({ kind, headline, askedAt }) => request(kind, headline, askedAt));
  const link = make(
    "a",
    { class: "inbox-entry", href: sessionAddress(sessionId), data: { local: "" }, "aria-current": sessionId === sessionInAddress() ? "page" : null },
    make("span", { class: "inbox-line" }, exactElement("bdi", { class: "inbox-title" }, title || sessionId, { oneLine: true }), stateElement(state, detail)),
    ...requests,
  );
  return make("li", {}, link);
}

function jobRow({ jobId, jobName, status, waiting }) {
  const isHere = jobInAddress().jobId === jobId;
  const link = make(
    "a",
    { class: "inbox-entry inbox-job", href: jobAddress({ jobId, jobName }), "aria-current": isHere ? "page" : null },
    make("span", { class: "inbox-line" }, exactElement("bdi", { class: "inbox-title" }, jobName || jobId, { oneLine: true }), jobStateElement(waiting.length > 0 ? "Waiting" : status)),
    ...waiting.map(({ kind, title, since }) => request(kind, title, since)),
    make("span", { class: "inbox-open", text: "Open job" }),
  );
  return make("li", {}, link);
}

function request(kind, headline, askedAt) {
  return make(
    "span",
    { class: "inbox-request" },
    make("span", { class: "inbox-kind", text: KINDS[kind] ?? kind }),
    askedAt ? make("span", { class: "inbox-age", text: ` ${ago(askedAt)}`, title: exactTime(askedAt) }) : null,
    " ",
    exactElement("bdi", { class: "inbox-headline" }, headline, { oneLine: true }),
  );
}
