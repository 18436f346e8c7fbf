// Asks before a file or a hunk is reverted, and shows exactly what is undone.

import { confirmAction } from "../lib/dialog.js";
import { make } from "../lib/dom.js";
import { exactString, markTextsBelow } from "../lib/exactText.js";

/** Resolves to true if the person confirmed. `words` say the scope, `isWorking` whether the agent is in a turn. */
export function confirmRevert({ row, hunk, words, isWorking }) {
  const content = row.rendered(hunk);
  markTextsBelow(content);
  const diff = make("div", { class: "revert-diff rendered-content", tabindex: "0", role: "region", "aria-label": "Changes to revert" }, content);
  const details = [
    diff,
    make("p", { class: "field-hint", text: "The current content is kept, so you can undo this." }),
    isWorking ? make("p", { class: "field-warning", text: "The agent is working and may not expect this." }) : null,
  ];
  const what = hunk === null ? exactString(row.file.path) : `a hunk of ${exactString(row.file.path)}`;
  return confirmAction({ title: `Revert ${what}?`, text: effect(row.file, hunk, words), details, action: hunk === null ? "Revert file" : "Revert hunk", className: "revert-dialog" });
}

function effect({ status, oldPath }, hunk, words) {
  if (hunk !== null) return `Reverting restores these lines. They changed ${words}:`;
  if (status === "added" || status === "untracked") return `The file is new ${words}. Reverting deletes it:`;
  if (status === "deleted") return `The file was deleted ${words}. Reverting restores it:`;
  if (status === "renamed") return `The file was renamed ${words}. Reverting restores its old name and content: ${exactString(oldPath)}`;
  return `Reverting restores the file. It changed ${words}:`;
}
