// Everything around the set-up and the sessions: panels, menu, keys, notifications.

import { sessionInAddress } from "../lib/address.js";
import { ask, sessionPath } from "../lib/api.js";
import { useCaptures } from "./captures.js";
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
import { useResizeBar } from "../composer/resizeBar.js";
import { useSessionDetails } from "./sessionDetails.js";
import { closePanel } from "./sidePanel.js";
import { useUsage } from "./usage.js";
// Other modules load these on demand. The server may have stopped by then, so they are loaded here.
import "../composer/attachments.js";
import "../composer/promptDialog.js";
import "../composer/templateDialog.js";
import "../lib/clipboard.js";
import "../session/finished.js";
import "../setup/agentLogin.js";
import "../session/questionForm.js";
import "../session/taskDecision.js";

const PICTURES = [
  ["changes-button", "diff", "Changes"],
  ["details-button", "info", "Details"],
  ["inbox-button", "inbox", "Inbox"],
  ["home-link", "back"],
  ["more-button", "more"],
  ["attach-button", "attach"],
  ["composer-more-button", "more"],
  ["close-session-button", "leave"],
  ["stop-server-button", "power"],
  ["interrupt-button", "stop"],
  ["steer-button", "steer"],
  ["queue-button", "queue"],
];

/** Sets up the frame; `session()` returns the session that is shown, or null. */
export function useFrame(session) {
  for (const [id, picture, label] of PICTURES) {
    byId(id).prepend(icon(picture), label ? make("span", { class: "button-label", text: label }) : "", " ");
  }
  const rename = () => renameSession(session());
  byId("session-title").addEventListener("click", rename);
  addEventListener("popstate", () => {
    closePanel();
    notifications.setShown(sessionInAddress());
  });
  notifications.setShown(sessionInAddress());
  inbox.addEventListener("connection", () => showConnection(session()));

  const usage = useUsage();
  const captures = useCaptures();
  const panels = { inbox: useInbox(), changes: useChanges(session), details: useSessionDetails(session, () => usage.open()), usage };
  const doctor = useDoctor();
  const help = useKeyHelp();
  useMoreMenu([
    { label: "Usage and cost", key: "Alt+M", icon: "meter", run: () => usage.open() },
    { label: "Model API", icon: "meter", run: () => captures.open() },
    { label: "System check", icon: "pulse", run: () => doctor.open() },
    { label: "Keyboard shortcuts", key: "?", icon: "keys", run: () => help.open() },
  ]);
  useKeys({ session, panels, help, rename });
  useResizeBar();
  // Before this point the buttons did nothing.
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

/** Only on the set-up: a session shows a banner with actions instead. */
function showConnection(view) {
  const lost = inbox.isConnected === false && !view;
  byId("connection-status").textContent = lost ? "The server is not responding. Retrying …" : "";
}
