// What a tool call is about, in one line and in full.

/** Arguments that say what a call does, the most telling first. */
const TELLING = ["command", "cmd", "path", "file_path", "filePath", "fileName", "pattern", "query", "url", "prompt", "description", "name", "question"];
const LONGEST_SUMMARY = 300;

/** The arguments as an object; null when they are something else. */
export function parseArguments(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** The tool's name; an agent that reports what it is up to gives the title itself. */
export function toolTitle(name, parameters) {
  return name === "report_intent" && typeof parameters?.intent === "string" ? parameters.intent : name;
}

/** The one line that matters: the command, the file, the query. What is below `folder` is named without it. */
export function toolSummary(name, parameters, folder) {
  if (!parameters || name === "report_intent") return "";
  const telling = TELLING.map((key) => parameters[key]).find((value) => typeof value === "string" && value.trim() !== "");
  const first = telling ?? Object.values(parameters).find((value) => typeof value === "string" && value.trim() !== "");
  const line = (first ?? "").trim().split("\n", 1)[0].slice(0, LONGEST_SUMMARY);
  return folder && line.startsWith(`${folder}/`) ? line.slice(folder.length + 1) : line;
}

/** The first line of a text that says something, without the signs of Markdown. */
export function firstLine(text) {
  const lines = text.split("\n", 40).map((line) => line.replace(/^[\s#>*+-]+/, "").replace(/\*\*|__|`/g, "").trim());
  return (lines.find((line) => line !== "") ?? "").slice(0, LONGEST_SUMMARY);
}

/** How the call ended: `{ text, kind }`. */
export function toolOutcome({ result, error }) {
  if (error) return { text: error.code && error.code !== "failure" ? error.code : "failed", kind: "failed" };
  const exit = /exit(?:ed with)?(?: exit)? code:? (-?\d+)/.exec((result?.content ?? "").slice(-200));
  if (exit) return { text: `exit ${exit[1]}`, kind: exit[1] === "0" ? null : "failed" };
  const change = lineChanges(result?.detailedContent);
  return { text: change ?? "", kind: null };
}

/** "+3 −1" for a diff. */
function lineChanges(diff) {
  if (!diff || !/^(diff --git|--- |@@ )/m.test(diff)) return null;
  const lines = diff.split("\n");
  const added = lines.filter((line) => line.startsWith("+") && !line.startsWith("+++")).length;
  const removed = lines.filter((line) => line.startsWith("-") && !line.startsWith("---")).length;
  return added + removed > 0 ? `+${added} −${removed}` : null;
}

/** The whole call as text: arguments, then result. */
export function toolText({ toolArguments, output, result, error }) {
  const parts = [toolArguments];
  if (error) parts.push(output, `${error.message}${error.code ? ` (${error.code})` : ""}`);
  else parts.push(result?.content ?? output, result?.detailedContent);
  return parts.filter(Boolean).join("\n\n");
}
