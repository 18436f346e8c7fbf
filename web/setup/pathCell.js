// A path in a narrow place: its beginning gives way first, so that the folder's own name can be read. Only the browser
// shortens it, to the width that there is.

import { make } from "../lib/dom.js";
import { baseName } from "../lib/format.js";

export function pathCell(path) {
  if (!path) return make("span", { class: "session-folder path" });
  // The separator stays with the name, where it can be seen.
  const at = Math.max(path.lastIndexOf(baseName(path)) - 1, 0);
  return make("span", { class: "session-folder path", title: path }, make("span", { class: "path-beginning", text: path.slice(0, at) }), make("span", { class: "path-end", text: path.slice(at) }));
}
