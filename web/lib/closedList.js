// A closed list whose choice takes effect at once. On some systems an arrow key, or a letter that was meant for another box,
// chooses the next entry of a closed list without opening it; here every such key opens the list instead.

/** Makes a `<select>` change only from its open list. */
export function chooseFromOpenList(select) {
  select.addEventListener("keydown", openInsteadOfChoosing);
}

function openInsteadOfChoosing(event) {
  const chooses = event.key.length === 1 ? event.key !== " " : /^(Arrow|Page|Home$|End$)/.test(event.key);
  if (!chooses || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  try {
    event.target.showPicker?.();
  } catch {
    // Enter and Space open it.
  }
}
