// The page: the set-up, or the session that the address names. This loads what a session needs for its first paint;
// everything else follows later.

import { eventInAddress, goTo, jobAddress, jobToOpen, sessionInAddress, setupAddress } from "./lib/address.js";
import { ask } from "./lib/api.js";
import { byId } from "./lib/dom.js";
import { inbox } from "./lib/inboxStream.js";
import { later } from "./lib/later.js";
import { setSubject } from "./lib/pageTitle.js";
import { SessionView } from "./session/sessionView.js";

let session = null;
let setup = null;

async function show() {
  if (jobToOpen() !== null) {
    await openJob(jobToOpen());
    return;
  }
  const id = sessionInAddress();
  if (session && session.sessionId === id) {
    if (eventInAddress() !== null) await session.showEvent(eventInAddress());
    return;
  }
  session?.leave();
  session = null;
  document.documentElement.classList.toggle("for-session", id !== null);
  byId("finished-ui").hidden = true;
  byId("setup-ui").hidden = id !== null;
  byId("session-ui").hidden = id === null;
  byId("changes-button").hidden = id === null;
  byId("details-button").hidden = id === null;
  byId("stop-server-button").hidden = id === null;
  if (id === null) {
    setSubject(null);
    const { Setup } = await later(() => import("./setup/setup.js"));
    setup ??= new Setup();
    await setup.show();
  } else {
    session = new SessionView(id);
    // On a phone, the keyboard would cover the transcript.
    if (!matchMedia("(pointer: coarse)").matches) session.composer.focus();
    await session.open(eventInAddress());
  }
}

/** A notification of a job has its id and not its name, which the page of a job needs. */
async function openJob(jobId) {
  try {
    const { jobName } = await ask(`api/jobs/${encodeURIComponent(jobId)}`);
    location.replace(jobAddress({ jobName, jobId }));
  } catch {
    location.replace(setupAddress());
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-local], #home-link");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  goTo(link.id === "home-link" ? setupAddress() : link.href);
});
addEventListener("popstate", () => show());

const shown = show();
const { useFrame } = await later(() => import("./panels/frame.js"));
useFrame(() => session);
inbox.start();
await shown;
