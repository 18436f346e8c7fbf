// The page: the set-up, or the session that the address names.

import { goTo, sessionInAddress, setupAddress } from "./address.js";
import { ask, sessionPath } from "./api.js";
import { useChanges } from "./changes.js";
import { askForText } from "./dialog.js";
import { useDoctor } from "./doctor.js";
import { byId, make } from "./dom.js";
import { icon } from "./icons.js";
import { useInbox } from "./inbox.js";
import { inbox } from "./inboxStream.js";
import { useKeyHelp, useKeys } from "./keys.js";
import { useMoreMenu } from "./moreMenu.js";
import { notifications } from "./notifications.js";
import { setSubject } from "./pageTitle.js";
import { useResizeBar } from "./resizeBar.js";
import { useSessionDetails } from "./sessionDetails.js";
import { SessionView } from "./sessionView.js";
import { Setup } from "./setup.js";
import { closePanel } from "./sidePanel.js";

let session = null;
let setup = null;

async function show() {
  const id = sessionInAddress();
  if (session && session.sessionId === id) return;
  session?.leave();
  session = null;
  document.body.classList.toggle("in-session", id !== null);
  byId("finished-ui").hidden = true;
  byId("setup-ui").hidden = id !== null;
  byId("session-ui").hidden = id === null;
  byId("changes-button").hidden = id === null;
  byId("details-button").hidden = id === null;
  notifications.setShownSession(id);
  if (id === null) {
    setSubject(null);
    setup ??= new Setup();
    await setup.show();
  } else {
    session = new SessionView(id);
    // On a phone the keyboard would cover what one came to read.
    if (!matchMedia("(pointer: coarse)").matches) session.composer.focus();
    await session.open();
  }
}

async function rename() {
  const view = session;
  if (!view?.details) return;
  const title = await askForText({ title: "Rename the session", label: "Title", value: view.details.title ?? "", action: "Rename" });
  if (!title?.trim()) return;
  try {
    view.update(await ask(sessionPath(view.sessionId), { method: "PATCH", json: { title: title.trim() } }));
  } catch (problem) {
    view.composer.say(`Not renamed: ${problem.message}`);
  }
}

function showConnection() {
  // A session says so itself, with more to do about it.
  const lost = inbox.isConnected === false && session === null;
  byId("connection-status").textContent = lost ? "The server does not answer; trying again …" : "";
}

byId("home-link").append(icon("back"));
byId("more-button").append(icon("more"));
byId("attach-button").append(icon("attach"));
for (const [id, picture, label] of [["changes-button", "diff", "Changes"], ["details-button", "info", "Details"], ["inbox-button", "inbox", "Inbox"]]) {
  byId(id).prepend(icon(picture), make("span", { class: "button-label", text: label }), " ");
}
byId("session-title").addEventListener("click", rename);

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-local], #home-link");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  closePanel();
  goTo(link.id === "home-link" ? setupAddress() : link.href);
});
addEventListener("popstate", () => {
  closePanel();
  show();
});
inbox.addEventListener("connection", showConnection);

const panels = { inbox: useInbox(), changes: useChanges(() => session), details: useSessionDetails(() => session) };
const doctor = useDoctor();
const help = useKeyHelp();
useMoreMenu([
  { label: "Check this machine", icon: "pulse", run: () => doctor.open() },
  { label: "Keys", key: "?", icon: "keys", run: () => help.open() },
]);
useKeys({ session: () => session, panels, help, rename });
useResizeBar();
inbox.start();
await show();
