// A path in a narrow place: its beginning gives way first, so that the folder's own name can be read. Only the stylesheet
// shortens it, to the width that there is.

import { make } from "../lib/dom.js";
import { exactElement, exactString } from "../lib/exactText.js";
import { baseName } from "../lib/format.js";

export function pathCell(path) {
  if (!path) return make("span", { class: "session-folder path" });
  const at = path.lastIndexOf(baseName(path));
  // The separator is not shortened away.
  const separator = Math.max(at - 1, 0);
  const part = (name, text) => exactElement("span", { class: name }, text, { oneLine: true });
  const beginning = make("span", { class: "path-beginning" }, part("", path.slice(0, separator)), part("", path.slice(separator, at)));
  return make("span", { class: "session-folder path", title: exactString(path) }, beginning, part("path-end", path.slice(at)));
}
