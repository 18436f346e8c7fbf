// A new permission mode for a running session. Everything that is open is decided again by the new mode, so the person sees
// what would run before it is allowed.

import { confirmAction } from "../lib/dialog.js";
import { make } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";
import { ALLOW_ALL } from "../lib/permissionModes.js";

/** Asks before nothing is asked any more. Resolves to whether the mode is to be changed. `open` are the session's open requests. */
export async function confirmMode(mode, open) {
  if (mode !== ALLOW_ALL) return true;
  const waiting = open.map(({ request }) => request).filter(({ detail, options }) => options && detail !== undefined);
  return confirmAction({
    title: "Allow everything?",
    text: "This session will run every command and change every file without asking you.",
    details: waiting.length > 0 ? [make("p", { text: `${waiting.length === 1 ? "This open request is" : `These ${waiting.length} open requests are`} allowed at once:` }), requestList(waiting)] : [],
    action: "Allow everything",
    className: "mode-dialog",
  });
}

function requestList(requests) {
  const items = requests.map(({ title, detail }) => make("li", {}, exactElement("p", {}, title, { oneLine: true }), exactElement("pre", { class: "request-detail" }, detail)));
  return make("ul", { class: "mode-dialog-requests", tabindex: "0", "aria-label": "What will be allowed" }, ...items);
}
