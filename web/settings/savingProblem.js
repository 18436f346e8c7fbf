// What the server refused, in words for the person who typed it: the server names keys, the page names boxes.

import { capitalized } from "../lib/format.js";

/** What went wrong, for the person who has just saved something. `fields` are those of the form, `{ name, label, … }`. */
export function savingProblem(problem, fields) {
  if (problem.code === "SettingsChanged") return "Not saved: the settings have changed since this page loaded them. The current values are shown now; save again to keep yours.";
  if (problem.isUnreachable) return "Not saved: the server did not respond. Your input is still here; save again when the server is back.";
  if (problem.isLoggedOut) return "Not saved: you are no longer logged in. Log in again in another tab, then save again.";
  if (problem.status === 403) return `Not saved: this login can't change settings. ${problem.message}`;
  return shortened(problem.message, fields);
}

/** The server names the file and the key, which the person sees anyway. */
export function shortened(message, fields = []) {
  const [, reason] = String(message).match(/ sets `[^`]*` to an invalid value: (.*)$/s) ?? [];
  const plain = (reason ?? String(message).replace(/^The server could not start with these settings: /, "")).trim();
  return capitalized(labelled(withExample(plain), fields));
}

/** The field of the form that the server's message is about, if it says so. */
export function refusedField(message, fields) {
  const text = shortened(message, fields);
  return fields.find(({ label }) => text.startsWith(`${label} `) || text.startsWith(`${label}: `));
}

/** What the parser of durations says is about characters and all units that it knows; an example says more. */
function withExample(text) {
  const example = "Enter a number and a unit, such as 30s or 5m.";
  const [, typed] = text.match(/^("(?:[^"\\]|\\.)*") is not a duration\b/) ?? [];
  if (typed) return `${typed} is not a duration. ${example}`;
  return /: (expected number at \d+|unknown time unit|time unit needed)/.test(text) ? `${text.replace(/: (?:expected number|unknown time unit|time unit needed).*$/s, "")}. ${example}` : text;
}

/**
 * Puts the labels of the form in the place of keys. Some keys, such as `command`, are also words of a sentence: those count
 * at its beginning only. What is quoted is the person's own text.
 */
function labelled(text, fields) {
  // The entry is the one whose form is open.
  const rest = fields.length === 0 ? text : text.replace(/^(?:target "(?:[^"\\]|\\.)*"|(?:runtimes|notifications\.targets)\.(?:[^\s:]|:(?!\s))+): /, "");
  const labels = new Map(fields.map(({ name, label }) => [name.replace(/^options\./, ""), label]));
  const named = rest.replace(/"(?:[^"\\]|\\.)*"|`(\w+)`|\b[a-z]\w*\b/g, (found, quoted, at) => {
    const isKey = quoted || /[_A-Z]/.test(found) || at === 0;
    return (isKey && labels.get(quoted ?? found)) || found;
  });
  const [, typed] = named.match(/^"((?:[^"\\]|\\.)*)" is not a duration/) ?? [];
  const box = typed === undefined ? null : fields.find(({ kind, typed: written }) => kind === "duration" && written === typed);
  return box ? `${box.label}: ${named}` : named;
}
