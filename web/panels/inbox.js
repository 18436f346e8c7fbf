// The inbox: every open session, those that need input first.

import { byId, make } from "../lib/dom.js";
import { sessionAddress, sessionInAddress } from "../lib/address.js";
import { exactElement } from "../lib/exactText.js";
import { ago, exactTime } from "../lib/format.js";
import { inbox } from "../lib/inboxStream.js";
import { SidePanel } from "./sidePanel.js";
import { stateElement } from "../lib/states.js";

const ORDER = ["waiting", "needs-login", "failed", "recovering", "working", "starting", "ready"];
const KINDS = { permission: "Permission", question: "Question" };

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
    if (open.length === 0) {
      body.replaceChildren(make("p", { class: "empty", text: "No open sessions. Requests from any session appear here." }));
      return;
    }
    const groups = [
      ["Needs your input", open.filter(({ pending, state }) => pending.length > 0 || ORDER.indexOf(state) < 3)],
      ["Open", open.filter(({ pending, state }) => pending.length === 0 && ORDER.indexOf(state) >= 3)],
    ].filter(([, entries]) => entries.length > 0);
    body.replaceChildren(
      ...groups.map(([title, entries]) => make("section", { class: "inbox-group" }, make("h3", { text: title }), make("ul", { class: "inbox-list" }, ...entries.map(row)))),
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
  const requests = pending.map(({ kind, headline, askedAt }) =>
    make(
      "span",
      { class: "inbox-request" },
      make("span", { class: "inbox-kind", text: KINDS[kind] ?? kind }),
      askedAt ? make("span", { class: "inbox-age", text: ` ${ago(askedAt)}`, title: exactTime(askedAt) }) : null,
      " ",
      exactElement("bdi", { class: "inbox-headline" }, headline, { oneLine: true }),
    ),
  );
  const link = make(
    "a",
    { class: "inbox-entry", href: sessionAddress(sessionId), data: { local: "" }, "aria-current": sessionId === sessionInAddress() ? "page" : null },
    make("span", { class: "inbox-line" }, exactElement("bdi", { class: "inbox-title" }, title || sessionId, { oneLine: true }), stateElement(state, detail)),
    ...requests,
  );
  return make("li", {}, link);
}
