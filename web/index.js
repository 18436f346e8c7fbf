// The page: the set-up, or the session that the address names.

import { sessionInAddress, setupAddress, goTo } from "./address.js";
import { byId } from "./dom.js";
import { icon } from "./icons.js";
import { useInbox } from "./inbox.js";
import { inbox } from "./inboxStream.js";
import { setSubject } from "./pageTitle.js";
import { SessionView } from "./sessionView.js";
import { useResizeBar } from "./resizeBar.js";
import { closePanel } from "./sidePanel.js";

let session = null;
let setup = null;

async function show() {
  const id = sessionInAddress();
  if (session && session.sessionId === id) return;
  session?.leave();
  session = null;
  byId("finished-ui").hidden = true;
  byId("setup-ui").hidden = id !== null;
  byId("session-ui").hidden = id === null;
  byId("changes-button").hidden = id === null;
  byId("details-button").hidden = id === null;
  if (id === null) await showSetup();
  else {
    session = new SessionView(id);
    if (!matchMedia("(pointer: coarse)").matches) session.composer.focus();
    await session.open();
  }
}

async function showSetup() {
  setSubject(null);
  const { Setup } = await import("./setup.js");
  setup ??= new Setup();
  await setup.show();
}

byId("home-link").append(icon("back"));
byId("more-button").append(icon("keys"));
byId("attach-button").append(icon("attach"));

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-local], #home-link");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  closePanel();
  goTo(link.id === "home-link" ? setupAddress() : link.href);
});
addEventListener("popstate", show);

useResizeBar();
useInbox();
inbox.start();
await show();
