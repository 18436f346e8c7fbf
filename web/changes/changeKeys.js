// Keys of the changes: n and p go to the next or previous change, with Shift to a file; e opens or closes all files.

import { isWriting } from "../lib/dom.js";

/** `rows()` gives the files in order, `toggleAll()` opens or closes all; the keys work until `signal` is aborted. */
export function useChangeKeys(element, { rows, toggleAll, signal }) {
  const onKey = (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || isWriting(event.target)) return;
    const actions = { n: () => toChange(rows(), 1), p: () => toChange(rows(), -1), N: () => toFile(rows(), 1), P: () => toFile(rows(), -1), e: toggleAll };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  element.addEventListener("keydown", onKey, { signal });
}

/** The next change; a file on the way is opened. A file without lines is a change itself. */
async function toChange(rows, direction) {
  const stops = rows.flatMap((row) => (row.hunks.length > 0 ? row.hunks.map((hunk) => ({ row, hunk })) : [{ row, hunk: null }]));
  if (stops.length === 0) return;
  const { row, hunk } = stops[nextOf(stops.map((stop) => stop.hunk ?? stop.row.button), direction)];
  if (hunk) return goTo(hunk);
  await row.openNow();
  goTo((direction > 0 ? row.hunks[0] : row.hunks.at(-1)) ?? row.button);
}

function toFile(rows, direction) {
  const buttons = rows.map((row) => row.button);
  if (buttons.length > 0) goTo(buttons[nextOf(buttons, direction)]);
}

/** The place after or before the focus, in the order of the document; at the ends it stays. */
function nextOf(elements, direction) {
  const focused = document.activeElement;
  const isAfter = (element) => focused.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING && !focused.contains(element);
  const isBefore = (element) => focused.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING && !element.contains(focused);
  const found = direction > 0 ? elements.findIndex(isAfter) : elements.findLastIndex(isBefore);
  if (found >= 0) return found;
  return direction > 0 ? elements.length - 1 : 0;
}

function goTo(element) {
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}
