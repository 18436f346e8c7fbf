// A diff in two columns, made from the rendered one: the old file at the left, the new one at the right.

import { make } from "../lib/dom.js";

/** A table with two columns for a table of lines. The marks of changed words come along. */
export function sideBySide(table) {
  const body = make("tbody");
  let removed = [];
  let added = [];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) body.append(pair(removed[index], added[index]));
    removed = [];
    added = [];
  };
  for (const row of table.rows) {
    if (row.classList.contains("diff-removed")) {
      // Removed lines after added ones begin a new change.
      if (added.length > 0) flush();
      removed.push(row);
    } else if (row.classList.contains("diff-added")) added.push(row);
    else {
      flush();
      body.append(row.classList.contains("diff-hunk") ? hunk(row) : pair(row, row));
    }
  }
  flush();
  const columns = make("colgroup", {}, make("col", { class: "diff-number-column" }), make("col"), make("col", { class: "diff-number-column" }), make("col"));
  return make("table", { class: "diff-lines side-by-side" }, columns, body);
}

function hunk(row) {
  const copy = make("tr", { class: row.className });
  const cell = row.cells[2].cloneNode(true);
  cell.colSpan = 4;
  copy.append(cell);
  return copy;
}

function pair(old, new_) {
  return make("tr", { class: "diff-line" }, ...half(old, 0), ...half(new_, 1));
}

/** The number and the text of one side; an empty place if the other side has more lines. */
function half(row, number) {
  if (!row) return [make("td", { class: "diff-number diff-nothing" }), make("td", { class: "diff-text diff-nothing" })];
  const kind = ["diff-removed", "diff-added"].find((name) => row.classList.contains(name)) ?? "diff-context";
  const cells = [row.cells[number].cloneNode(true), row.cells[2].cloneNode(true)];
  for (const cell of cells) cell.classList.add(kind);
  return cells;
}
