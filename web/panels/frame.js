// Everything around the set-up and the sessions: panels, menu, keys, notifications.

import { sessionInAddress } from "../lib/address.js";
import { ask, sessionPath } from "../lib/api.js";
import { useChanges } from "./changes.js";
import { askForText } from "../lib/dialog.js";
import { useDoctor } from "./doctor.js";
import { byId, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { useInbox } from "./inbox.js";
import { inbox } from "../lib/inboxStream.js";
import { useKeyHelp, useKeys } from "./keys.js";
import { useMoreMenu } from "./moreMenu.js";
import { notifications } from "../lib/notifications.js";
import { useResizeBar } from "../session/resizeBar.js";
import { useSessionDetails } from "./sessionDetails.js";
import { closePanel } from "./sidePanel.js";
import { useUsage } from "./usage.js";
// Others load these when they want them. By then the server may be gone, so they come along here.
import "../session/attachments.js";
import "../lib/clipboard.js";
import "../session/finished.js";
import "../setup/agentLogin.js";
import "../session/questionForm.js";

const PICTURES = [
  ["changes-button", "diff", "Changes"],
  ["details-button", "info", "Details"],
  ["inbox-button", "inbox", "Inbox"],
  ["home-link", "back"],
  ["more-button", "more"],
  ["attach-button", "attach"],
];

/** Brings the frame to life; `session()` gives the session that is shown, or null. */
export function useFrame(session) {
  for (const [id, picture, label] of PICTURES) {
    byId(id).prepend(icon(picture), label ? make("span", { class: "button-label", text: label }) : "", " ");
  }
  const rename = () => renameSession(session());
  byId("session-title").addEventListener("click", rename);
  addEventListener("popstate", () => {
    closePanel();
    notifications.setShownSession(sessionInAddress());
  });
  notifications.setShownSession(sessionInAddress());
  inbox.addEventListener("connection", () => showConnection(session()));

  const usage = useUsage();
  const panels = { inbox: useInbox(), changes: useChanges(session), details: useSessionDetails(session, () => usage.open()), usage };
  const doctor = useDoctor();
  const help = useKeyHelp();
  useMoreMenu([
    { label: "Usage and cost", key: "Alt+M", icon: "meter", run: () => usage.open() },
    { label: "System check", icon: "pulse", run: () => doctor.open() },
    { label: "Keyboard shortcuts", key: "?", icon: "keys", run: () => help.open() },
  ]);
  useKeys({ session, panels, help, rename });
  useResizeBar();
  // Until here they could not have done anything.
  for (const id of ["session-title", "changes-button", "details-button", "inbox-button", "more-button"]) byId(id).disabled = false;
}

async function renameSession(view) {
  if (!view?.details) return;
  const title = await askForText({ title: "Rename the session", label: "Title", value: view.details.title ?? "", action: "Rename" });
  if (!title?.trim()) return;
  try {
    view.update(await ask(sessionPath(view.sessionId), { method: "PATCH", json: { title: title.trim() } }));
  } catch (problem) {
    view.composer.say(`Could not rename the session: ${problem.message}`);
  }
}

/** A session says so itself, with more to do about it. */
function showConnection(view) {
  const lost = inbox.isConnected === false && !view;
  byId("connection-status").textContent = lost ? "The server is not responding. Retrying …" : "";
}
