// Replaces the text of a box as if it had been typed, so that it can be undone.

/** Chromium inserts line by line, and takes seconds for thousands of lines. */
const MOST_LINES = 200;

/** Replaces all of the text. A text of very many lines is assigned. Returns whether what was there can be brought back by undoing. */
export function replaceText(textarea, text) {
  textarea.select();
  const canInsert = text.split("\n", MOST_LINES + 1).length <= MOST_LINES;
  const isDone = canInsert && (text ? document.execCommand("insertText", false, text) : document.execCommand("delete"));
  if (!isDone) textarea.value = text;
  return isDone;
}
