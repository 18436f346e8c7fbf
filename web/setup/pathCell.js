// A path in a narrow place: its beginning gives way first, so that the folder's own name can be read. Only the stylesheet
// shortens it, to the width that there is.

import { make } from "../lib/dom.js";
import { baseName } from "../lib/format.js";

export function pathCell(path) {
  if (!path) return make("span", { class: "session-folder path" });
  const at = path.lastIndexOf(baseName(path));
  // The separator is not shortened away.
  const separator = Math.max(at - 1, 0);
  const beginning = make("span", { class: "path-beginning" }, make("span", { text: path.slice(0, separator) }), make("span", { text: path.slice(separator, at) }));
  return make("span", { class: "session-folder path", title: path }, beginning, make("span", { class: "path-end", text: path.slice(at) }));
}
