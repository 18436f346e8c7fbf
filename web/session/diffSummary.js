// A diff in a few words: "create new.txt +1", "edit src/a.rs +3 −1".

/** What a diff does to which files; null if it does not say. Files below `folder` are named without it. */
export function diffSummary(diff, folder) {
  const files = filesOf(diff);
  if (files.length === 0) return null;
  const [first] = files;
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  const name = nameBelow(folder, first.name);
  const others = files.length > 1 ? ` and ${files.length - 1} more` : "";
  const changes = [added > 0 && `+${added}`, removed > 0 && `−${removed}`].filter(Boolean).join(" ");
  return `${first.verb} ${name}${others} ${changes}`.trim();
}

/** A file's name without the folder; the prefix of a diff may have taken the place of the path's first slash. */
function nameBelow(folder, name) {
  const prefix = folder ? [`${folder}/`, `${folder}/`.slice(1)].find((one) => name.startsWith(one)) : null;
  return prefix ? name.slice(prefix.length) : name;
}

function filesOf(diff) {
  const files = [];
  let inHunk = false;
  let old = null;
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) inHunk = false;
    if (line.startsWith("@@")) inHunk = true;
    else if (!inHunk && line.startsWith("--- ")) old = nameIn(line.slice(4));
    else if (!inHunk && line.startsWith("+++ ")) {
      const current = nameIn(line.slice(4));
      const verb = old === null ? "create" : current === null ? "delete" : "edit";
      const name = current ?? old;
      if (name !== null) files.push({ verb, name, added: 0, removed: 0 });
    } else if (inHunk && files.length > 0) {
      if (line.startsWith("+")) files.at(-1).added += 1;
      else if (line.startsWith("-")) files.at(-1).removed += 1;
    }
  }
  return files;
}

/** A name in the head of a diff, without git's prefix and the time; null for no file. */
function nameIn(text) {
  const name = text.split("\t", 1)[0].trim().replace(/^"(.*)"$/, "$1");
  if (/^([ab]\/|\/)dev\/null$/.test(name) || name === "") return null;
  // An absolute path comes as "a//home/…" or "a/home/…" by some agents, so only the prefix is taken away.
  return name.replace(/^[ab]\/(?=\/)/, "").replace(/^[ab]\//, "");
}
