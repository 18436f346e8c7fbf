// MCP servers as people write them: a command, a URL, or the JSON of another tool's configuration.

/** `{ servers }` by name, or `{ problem }`. */
export function readServers(name, text) {
  if (text === "") return { problem: "Enter a command, a URL or JSON." };
  const given = text.startsWith("{") ? readJson(text) : { server: /^https?:\/\//i.test(text) ? { url: text } : command(text) };
  if (given.problem || given.servers) return given;
  if (name === "") return { problem: "Enter a name for the server." };
  return { servers: { [name]: given.server } };
}

function readJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `Invalid JSON: ${error.message}` };
  }
  if (isServer(value)) return { server: value };
  // The configurations of other tools have a table of servers, most of them under this name.
  const table = value.mcpServers ?? value.servers ?? value;
  const entries = Object.entries(table ?? {});
  if (entries.length === 0 || !entries.every(([, server]) => isServer(server))) return { problem: "Expected a server with “command” or “url”, or an object of such servers by name." };
  return { servers: Object.fromEntries(entries) };
}

function isServer(value) {
  return typeof value === "object" && value !== null && (typeof value.command === "string" || typeof value.url === "string");
}

const WORD = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']|["'])+/g;
const QUOTED = /"((?:[^"\\]|\\.)*)"|'([^']*)'/g;

/** Words are separated by spaces; quotes keep them together, as in a shell. */
function command(text) {
  const plain = (word) => word.replace(QUOTED, (_, double, single) => double?.replace(/\\(.)/g, "$1") ?? single);
  const [program, ...args] = text.match(WORD).map(plain);
  return args.length > 0 ? { command: program, args } : { command: program };
}
