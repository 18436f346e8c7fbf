// The page after the session or the server has ended.

import { byId, make, prose } from "../lib/dom.js";
import { setSubject } from "../lib/pageTitle.js";

/** Shows a last sentence in place of everything else on the page. */
export function showFinished({ title, text, action }) {
  const place = byId("finished-ui");
  for (const part of byId("main").children) part.hidden = part !== place;
  for (const button of document.querySelectorAll("#changes-button, #details-button, #stop-server-button")) button.hidden = true;
  place.replaceChildren(make("h2", { text: title, tabindex: "-1" }), make("p", { role: "status" }, ...prose(text)), action ?? "");
  place.querySelector("h2").focus();
  setSubject(title);
}
