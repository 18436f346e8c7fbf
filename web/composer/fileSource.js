// "@" completes files of the session's folder.

import { ask, sessionPath } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";

const MOST = 30;

export function fileSource(sessionId) {
  return {
    label: "Files",
    find(before) {
      const found = /(?:^|[\s([{])@(?:"([^"\n]*)|([^\s@"]*))$/.exec(before);
      if (!found) return null;
      const query = found[1] ?? found[2];
      return { start: before.lastIndexOf("@"), query };
    },
    async items(query, signal) {
      const { files, truncated, message } = await ask(sessionPath(sessionId, `files?${new URLSearchParams({ q: query.slice(0, 200), limit: String(MOST) })}`), { signal });
      const note = message ?? (files.length === 0 ? (query ? `No file matches ${exactString(query)}.` : "No files here.") : truncated ? "This folder is large; not all of its files are searched." : null);
      return { items: files.map((path) => item(path)), note };
    },
  };
}

function item(path) {
  const slash = path.lastIndexOf("/") + 1;
  const shown = make("span", { class: "completion-name" }, make("bdi", {}, make("span", { text: exactString(path.slice(slash)) })));
  const folder = slash > 0 ? make("bdi", { class: "completion-about completion-folder", text: exactString(path.slice(0, slash)) }) : null;
  return {
    nodes: [shown, ...(folder ? [folder] : [])],
    insert(before, after) {
      const mention = `@${/[\s"]/.test(path) ? `"${path.replaceAll('"', '\\"')}"` : path}`;
      const gap = /^\s/.test(after) ? "" : " ";
      const end = before.length + mention.length + 1;
      return { text: `${before}${mention}${gap}${after}`, selection: [end, end] };
    },
  };
}
