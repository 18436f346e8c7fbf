// Everything around the set-up and the sessions: panels, menu, keys, notifications.

import { SETTINGS_PAGE, goTo, jobsAddress, panelInAddress, sessionInAddress, setupAddress, turnInAddress } from "../lib/address.js";
import { ask, sessionPath } from "../lib/api.js";
import { Around } from "./around.js";
import { useCaptures } from "./captures.js";
import { useChanges } from "../changes/changesPanel.js";
import { askForText } from "../lib/dialog.js";
import { useDoctor } from "./doctor.js";
import { byId, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { inbox } from "../lib/inboxStream.js";
import { SESSION_KEYS, useKeyHelp } from "./keyHelp.js";
import { useKeys } from "./keys.js";
import { useMoreMenu } from "./moreMenu.js";
import { notifications } from "../lib/notifications.js";
import { fullHeight } from "../session/fullHeight.js";
import { renewPush } from "../lib/push.js";
import { startServiceWorker } from "../lib/serviceWorker.js";
import { useResizeBar } from "../composer/resizeBar.js";
import { useOutline } from "./outline.js";
import { EXPORTS, exportSession, useSessionDetails } from "./sessionDetails.js";
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
  const panels = { changes: useChanges(session), details: useSessionDetails(session, () => usage.open()), outline: useOutline(session), usage };
  const doctor = useDoctor();
  const help = useKeyHelp(SESSION_KEYS);
  // In the menu and in the switcher; `also` is what else people may call it.
  const tools = [
    { label: "Settings", key: "Alt+,", icon: "settings", also: "preferences options configuration", run: () => location.assign(SETTINGS_PAGE) },
    fullHeightEntry(),
    { label: "Usage and cost", key: "Alt+M", icon: "meter", also: "tokens budget credits", run: () => usage.open() },
    { label: "Model API", icon: "meter", also: "capture", run: () => captures.open() },
    { label: "System check", icon: "pulse", also: "diagnostics doctor health", run: () => doctor.open() },
    { label: "Keyboard shortcuts", key: "?", icon: "keys", also: "keys help", run: () => help.open() },
  ];
  const around = new Around(() => [...commandsOf({ view: session(), panels, rename }), ...tools.map((tool) => ({ id: tool.label, ...tool }))]);
  useMoreMenu([{ label: "Go to …", key: "Ctrl+K", icon: "search", run: () => around.switcher.open() }, ...tools]);
  useKeys({ session, around, panels, help, rename });
  byId("session-ui").addEventListener("click", (event) => openTurnChanges(event, panels.changes));
  const showPanel = () => openNamedPanel(session(), panels);
  addEventListener("popstate", showPanel);
  useResizeBar();
  // Before this point the buttons did nothing.
  for (const id of ["session-title", "changes-button", "details-button", "inbox-button", "more-button"]) byId(id).disabled = false;
  showPanel();
  startServiceWorker();
  // A failure is tried again by the next page.
  renewPush().catch(() => {});
}

/** What can be done from the switcher: nothing that answers, ends or deletes anything. */
function commandsOf({ view, panels, rename }) {
  const folder = view?.details?.workingDirectory ?? byId("working-dir").value.trim();
  const ofSession = view?.details
    ? [
        { id: "changes", label: "Changes", key: "Alt+C", also: "diff files", run: () => panels.changes.open() },
        { id: "outline", label: "Outline of all prompts", key: "Alt+O", also: "prompts jump beginning", run: () => panels.outline.open() },
        { id: "details", label: "Session details", key: "Alt+S", also: "model permissions usage", run: () => panels.details.open() },
        { id: "rename", label: "Rename the session", key: "Alt+R", also: "title", run: rename },
        ...EXPORTS.map(([format, label, also]) => ({ id: `export-${format}`, label: `Export as ${label}`, also: `download save ${also}`, run: () => exportFrom(view, format) })),
      ]
    : [];
  return [
    { id: "new-session", label: "New session", key: "Alt+H", also: "start all sessions home", run: () => goTo(setupAddress()) },
    ...(folder ? [{ id: "new-job", label: "New job", also: "start task", run: () => location.assign(jobsAddress(folder)) }] : []),
    ...ofSession,
  ];
}

async function exportFrom(view, format) {
  try {
    await exportSession(view.sessionId, format);
  } catch (problem) {
    view.composer.say(`Could not export the session: ${problem.message}`);
  }
}

/** A link may lead to a panel of a session; it opens once. */
function openNamedPanel(view, panels) {
  const panel = panels[panelInAddress()];
  if (!panel) return;
  const turn = turnInAddress();
  const address = new URL(location.href);
  address.searchParams.delete("panel");
  address.searchParams.delete("turn");
  history.replaceState(null, "", address);
  if (!view) return;
  if (turn && panel === panels.changes) panel.openTurn(turn);
  else panel.open();
}

/** The link at the end of a turn opens the panel here; with another button or key it is a link as any other. */
function openTurnChanges(event, panel) {
  const link = event.target.closest?.("a.turn-changes");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  panel.openTurn(link.dataset.turn, link);
}

/** Its words follow the setting each time the menu is opened. */
function fullHeightEntry() {
  return {
    icon: "height",
    get label() {
      return fullHeight.isOn ? "Full height while streaming: on" : "Full height while streaming: off";
    },
    get pressed() {
      return String(fullHeight.isOn);
    },
    run: () => fullHeight.toggle(),
  };
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
