// The page after the session or the server has ended.

import { byId, make, prose } from "../lib/dom.js";
import { setSubject } from "../lib/pageTitle.js";

export function showFinished({ title, text, action }) {
  byId("setup-ui").hidden = true;
  byId("session-ui").hidden = true;
  byId("changes-button").hidden = true;
  byId("details-button").hidden = true;
  const place = byId("finished-ui");
  place.replaceChildren(make("h2", { text: title, tabindex: "-1" }), make("p", { role: "status" }, ...prose(text)), action ?? "");
  place.hidden = false;
  place.querySelector("h2").focus();
  setSubject(title);
}
