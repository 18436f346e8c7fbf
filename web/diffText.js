// A diff that comes as text, before any file is touched, shown like the ones that the server renders.

import { make } from "./dom.js";

export function looksLikeDiff(text) {
  return /^(diff --git |--- |@@ )/m.test(text) && /^@@ /m.test(text);
}

/** The text with a class for each line. */
export function diffOf(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  return make("pre", { class: "request-detail diff-plain", tabindex: "0" }, ...lines.map((line) => make("span", { class: `diff-line ${classOf(line)}`, text: `${line}\n` })));
}

function classOf(line) {
  if (/^(\+\+\+|---|diff --git|index )/.test(line)) return "diff-file";
  if (line.startsWith("@@")) return "diff-hunk";
  if (line.startsWith("+")) return "diff-added";
  if (line.startsWith("-")) return "diff-removed";
  return "diff-context";
}
